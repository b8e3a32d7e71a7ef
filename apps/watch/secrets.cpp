// SPDX-License-Identifier: LGPL-2.1-or-later
// The known passwords, and texts without them.
#include "apps/watch/secrets.h"

#include "apps/common/text.h"
#include "apps/common/url.h"

#include <glib.h>

#include <algorithm>

namespace framequality::apps::watch {

namespace {

constexpr char kMask[] = "***";
constexpr std::size_t kShort = 8;

bool is_word(char c) { return g_ascii_isalnum(c); }

}  // namespace

void Secrets::add(std::string_view password) {
  const std::string decoded = percent_decoded(password);
  for (std::string form : {std::string(password), decoded, percent_encoded(decoded), printable(password)})
    if (!form.empty() && std::find(known_.begin(), known_.end(), form) == known_.end())
      known_.push_back(std::move(form));
  // One may contain another.
  std::stable_sort(known_.begin(), known_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Secrets::hide(std::string_view text) const {
  // By position first: a password in a URL is removed whole, whatever its characters.
  std::string result = without_url_passwords(text);
  for (const std::string& secret : known_) {
    const bool plain = secret.size() < kShort && std::all_of(secret.begin(), secret.end(), is_word);
    for (std::size_t at = 0; (at = result.find(secret, at)) != std::string::npos;) {
      const std::size_t end = at + secret.size();
      const bool inside = (at > 0 && is_word(result[at - 1])) || (end < result.size() && is_word(result[end]));
      if (plain && inside) {
        ++at;
        continue;
      }
      result.replace(at, secret.size(), kMask);
      at += sizeof(kMask) - 1;
    }
  }
  return result;
}

}  // namespace framequality::apps::watch
