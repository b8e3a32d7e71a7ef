// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/cache.h"

#include "device/error.h"
#include "host/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace framequality::opencl {
namespace {

namespace fs = std::filesystem;

// A file: kMagic, bytes of the key and of the program, their digest, key, program. The whole key is compared,
// so that keys with equal digests, or another machine's folder, do no harm.
constexpr std::array<char, 8> kMagic{'f', 'q', 'o', 'p', 'e', 'n', 'c', '1'};
constexpr std::uint64_t kMostBytes = 64 << 20;
constexpr std::size_t kMostFiles = 256;  // settings, formats and drivers change: the oldest ones are deleted

/// Fowler, Noll, Vo, 64 bits (FNV-1a): protects from accidents; the file's owner protects from attackers.
std::uint64_t digest(const std::string& text, std::uint64_t basis = 0xcbf29ce484222325) {
  for (const char c : text) basis = (basis ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return basis;
}

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t key_bytes = 0, program_bytes = 0, digest = 0;
};

Header header_of(const std::string& key, const std::string& program) {
  return {kMagic, key.size(), program.size(), digest(program, digest(key))};
}

/// Digests of a text, in hexadecimal.
std::string name_of(const std::string& key) {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx.bin", static_cast<unsigned long long>(digest(key)),
                static_cast<unsigned long long>(digest(key, 0x84222325cbf29ce4)));
  return name;
}

/// True if only the user can have written there.
bool is_own(int descriptor) {
  struct stat s;
  return fstat(descriptor, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  bool is_regular() const {
    struct stat s;
    return fstat(descriptor_, &s) == 0 && S_ISREG(s.st_mode);
  }
  bool read(void* to, std::size_t bytes) const {
    for (auto* at = static_cast<char*>(to); bytes > 0;) {
      const ssize_t n = ::read(descriptor_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  bool write(const void* from, std::size_t bytes) const {
    for (const auto* at = static_cast<const char*>(from); bytes > 0;) {
      const ssize_t n = ::write(descriptor_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }

 private:
  int descriptor_;
};

/// The folder, if it is the user's own and not a link.
File open_folder(const std::string& path) {
  const File folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return File(folder.is_open() && is_own(folder.get()) ? fcntl(folder.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

std::optional<std::string> read(const std::string& key) {
  const std::string folder = cache_folder();
  if (folder.empty()) return std::nullopt;
  const std::string path = folder + "/" + name_of(key);
  const File within = open_folder(folder);
  if (!within.is_open()) return std::nullopt;
  // Opening a pipe of that name would block.
  const File file(openat(within.get(), name_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return std::nullopt;
  Header h;
  std::string stored, program;
  const auto is_good = [&] {
    if (!file.is_regular() || !is_own(file.get()) || !file.read(&h, sizeof h) || h.magic != kMagic ||
        h.key_bytes != key.size() || h.program_bytes > kMostBytes)
      return false;
    stored.resize(h.key_bytes);
    program.resize(h.program_bytes);
    return file.read(stored.data(), stored.size()) && stored == key && file.read(program.data(), program.size()) &&
           header_of(key, program).digest == h.digest;
  };
  if (is_good()) return program;
  host::log(host::LogLevel::kInfo, "%s is damaged or of another origin: compiling the program again", path.c_str());
  return std::nullopt;
}

/// True for names of our files.
bool is_ours(const std::string& name) {
  constexpr std::size_t kDigits = 32;
  return name.size() == kDigits + 4 && name.ends_with(".bin") && name.find_first_not_of("0123456789abcdef") == kDigits;
}

void delete_oldest(const std::string& folder, int within) {
  std::vector<std::pair<fs::file_time_type, std::string>> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_ours(entry.path().filename())) files.emplace_back(entry.last_write_time(error), entry.path().filename());
  if (files.size() <= kMostFiles) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kMostFiles);
  for (const auto& [time, name] : files) unlinkat(within, name.c_str(), 0);
}

bool write(const std::string& key, const std::string& program) {
  const std::string folder = cache_folder();
  if (folder.empty()) return true;
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  (void)mkdir(folder.c_str(), S_IRWXU);
  const File within = open_folder(folder);
  if (!within.is_open()) return false;
  static std::atomic<unsigned> count = 0;
  const std::string part = "part-" + std::to_string(getpid()) + "-" + std::to_string(count++);
  (void)unlinkat(within.get(), part.c_str(), 0);  // of an ended process with the same number
  const File file(openat(within.get(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return false;
  const Header h = header_of(key, program);
  // Readers find a whole file or none.
  const bool is_written = file.write(&h, sizeof h) && file.write(key.data(), key.size()) &&
                          file.write(program.data(), program.size()) &&
                          renameat(within.get(), part.c_str(), within.get(), name_of(key).c_str()) == 0;
  const int why = errno;
  if (!is_written) unlinkat(within.get(), part.c_str(), 0);
  errno = why;
  if (is_written) delete_oldest(folder, within.get());
  return is_written;
}

}  // namespace

std::string cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/framequality/opencl";
  const char* const home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/framequality/opencl" : std::string();
}

std::optional<std::string> cached(const std::string& key) noexcept {
  return guard(std::optional<std::string>(), [&] { return read(key); });
}

void cache(const std::string& key, const std::string& program) noexcept {
  guard(false, [&] {
    errno = 0;
    const bool is_written = write(key, program);
    if (!is_written)
      host::log(host::LogLevel::kInfo, "cannot store the compiled program in %s: %s", cache_folder().c_str(),
                std::strerror(errno));
    return is_written;
  });
}

}  // namespace framequality::opencl
