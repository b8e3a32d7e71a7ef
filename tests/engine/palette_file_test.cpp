// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes from files: what is read, and why another is refused.
#include "engine/palette_file.h"

#include "tests/engine/files.h"

namespace framequality::test {
namespace {

class PaletteFiles : public Files {
 protected:
  std::string refusal_of(const std::string& text) const { return Files::refusal_of(load_palette, file(text)); }
};

TEST_F(PaletteFiles, AColourOnEachLineIsThePalette) {
  const halftone::Palette wanted = halftone::parse_palette("#102030,#d0e0f0=5,#ff0000");
  for (const char* text : {"#102030\n#d0e0f0=5\n#ff0000\n", "\n #102030\r\n\t#D0E0F0 = 5\r\n\r\n#ff0000"})
    EXPECT_TRUE(load_palette(file(text)) == wanted) << text;
}

TEST_F(PaletteFiles, BadOnesAreRefusedWithAReason) {
  EXPECT_EQ(Files::refusal_of(load_palette, folder() / "none.txt"), "cannot be read: No such file or directory");
  EXPECT_EQ(Files::refusal_of(load_palette, folder()), "cannot be read: Is a directory");
  EXPECT_EQ(Files::refusal_of(load_palette, "/dev/zero"), "longer than 4 KiB: not a palette");
  for (const char* empty : {"", "\n \r\n"})
    EXPECT_EQ(refusal_of(empty), "has no colours: write one on each line, such as #ff8000");
  EXPECT_EQ(refusal_of("#000000\n"), "a palette has at least 2 colours");
  EXPECT_EQ(refusal_of("#000000\n#ffffff\n#000000\n"), "the colour '#000000' is there twice");
  EXPECT_EQ(refusal_of("#000000\n#ffffff=16\n"), "the code of '#ffffff=16' must be a number from 0 to 15");
  EXPECT_EQ(refusal_of("#000000\nwhite\n"), "'white' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(refusal_of("\x7f"
                       "ELF\x01 and more that nobody meant to be a palette of any kind"),
            "'?ELF? and more that nobody meant to be a...' is not a colour: write #rrggbb, such as #ff8000");
  std::string many;
  for (int i = 10; i < 27; ++i) many += "#0000" + std::to_string(i) + "\n";
  EXPECT_EQ(refusal_of(many), "a palette has at most 16 colours");
}

}  // namespace
}  // namespace framequality::test
