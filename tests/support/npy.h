// SPDX-License-Identifier: LGPL-2.1-or-later
// Arrays that numpy saved: little-endian numbers in C order, as the oracles hold them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {

struct Array {
  std::vector<int> shape;  // slowest first
  std::vector<double> values;
};

/// Throws std::runtime_error if the file is not what this reads: versions 1 of |u1, <u2, <f8.
inline Array load_npy(const std::string& path) {
  static_assert(std::endian::native == std::endian::little);
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (bytes.size() < 10 || bytes.compare(0, 7, "\x93NUMPY\x01") != 0) throw std::runtime_error("no .npy file: " + path);
  const std::size_t length = static_cast<std::uint8_t>(bytes[8]) | std::size_t{static_cast<std::uint8_t>(bytes[9])}
                                                                       << 8;
  const std::string header = bytes.substr(10, length), data = bytes.substr(10 + length);
  Array a;
  std::size_t count = 1, at = header.find("'shape': (") + 10;
  for (std::size_t end = 0; at < header.find(')'); at += end + 1) {
    a.shape.push_back(std::stoi(header.substr(at), &end));
    count *= static_cast<std::size_t>(a.shape.back());
    if (header[at + end] == ',' && header[at + end + 1] == ')') break;
  }
  const auto read = [&]<class T>(T) {
    if (data.size() != count * sizeof(T)) throw std::runtime_error("truncated: " + path);
    std::vector<T> values(count);
    std::memcpy(values.data(), data.data(), data.size());
    a.values.assign(values.begin(), values.end());
  };
  if (header.find("|u1") != std::string::npos) {
    read(std::uint8_t{});
  } else if (header.find("<u2") != std::string::npos) {
    read(std::uint16_t{});
  } else if (header.find("<f8") != std::string::npos) {
    read(double{});
  } else {
    throw std::runtime_error("numbers of another kind: " + path);
  }
  return a;
}

}  // namespace framequality::test
