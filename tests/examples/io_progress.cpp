// SPDX-License-Identifier: Apache-2.0
// The progress bar shows itself to a terminal only, rarely, and leaves no trace.

#include "../../examples/io/progress.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "catch.hpp"

#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <termios.h>
#endif

namespace {

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_ptr = std::unique_ptr<std::FILE, close_file>;

#if __has_include(<unistd.h>)
/// A terminal that nobody sees: what is written to `screen()` can be read back.
class pseudo_terminal {
 public:
  pseudo_terminal() {
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    int const descriptor = open(ptsname(master_), O_RDWR | O_NOCTTY);
    REQUIRE(descriptor >= 0);
    termios settings{};
    REQUIRE(tcgetattr(descriptor, &settings) == 0);
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    REQUIRE(tcsetattr(descriptor, TCSANOW, &settings) == 0);
    REQUIRE(fcntl(master_, F_SETFL, O_NONBLOCK) == 0);
    screen_.reset(fdopen(descriptor, "w"));
    REQUIRE(screen_ != nullptr);
  }
  pseudo_terminal(pseudo_terminal const&) = delete;
  pseudo_terminal& operator=(pseudo_terminal const&) = delete;
  ~pseudo_terminal() { close(master_); }

  [[nodiscard]] std::FILE* screen() const { return screen_.get(); }

  /// All that was written since the last call.
  [[nodiscard]] std::string written() const {
    std::string text;
    char buffer[4096];
    for (;;) {
      auto const size = read(master_, buffer, sizeof buffer);
      if (size <= 0) { return text; }
      text.append(buffer, static_cast<std::size_t>(size));
    }
  }

 private:
  int master_ = -1;
  file_ptr screen_;
};
#endif

}  // namespace

TEST_CASE("a progress bar writes nothing to a file", "[examples][progress]") {
  file_ptr const file(std::tmpfile());
  REQUIRE(file != nullptr);
  CHECK_FALSE(io::is_terminal(file.get()));
  {
    io::progress bar("work", 10, file.get());
    for (int i = 0; i < 10; ++i) { bar.advance(); }
    bar.erase();
  }
  CHECK(std::ftell(file.get()) == 0);
}

#if __has_include(<unistd.h>)
TEST_CASE("a progress bar is drawn on a terminal and erased at the end", "[examples][progress]") {
  pseudo_terminal const terminal;
  REQUIRE(io::is_terminal(terminal.screen()));
  std::string const half = "work [###############---------------]  50 %";
  std::string const blank(half.size(), ' ');
  {
    io::progress bar("work", 8, terminal.screen());
    CHECK(terminal.written().empty());
    bar.advance(4);
    CHECK(terminal.written() == '\r' + half);
    bar.erase();
    CHECK(terminal.written() == '\r' + blank + '\r');
    bar.erase();
    CHECK(terminal.written().empty());

    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    bar.advance(100);  // more than there is
    CHECK(terminal.written() == "\rwork [##############################] 100 %");
  }
  CHECK(terminal.written() == '\r' + blank + '\r');
}

TEST_CASE("a progress bar fits a line, also when there is nothing to do", "[examples][progress]") {
  pseudo_terminal const terminal;
  io::progress bar(std::string(200, 'n'), 0, terminal.screen());
  bar.advance();
  std::string const line = terminal.written();
  CHECK(line.size() < 80);
  CHECK(line.find("100 %") != std::string::npos);
}

TEST_CASE("a progress bar is drawn at most ten times a second", "[examples][progress]") {
  pseudo_terminal const terminal;
  io::progress bar("work", 10'000'000, terminal.screen());
  auto const begin = std::chrono::steady_clock::now();
  std::size_t drawn = 0;
  auto const count = [&] {
    for (char const c : terminal.written()) { drawn += c == '\r' ? 1u : 0u; }
  };
  std::chrono::duration<double> spent{};
  while (spent.count() < 0.35) {
    for (int i = 0; i < 1000; ++i) { bar.advance(); }
    count();
    spent = std::chrono::steady_clock::now() - begin;
  }
  CHECK(drawn >= 2);
  CHECK(static_cast<double>(drawn) <= spent.count() * 10 + 1);
}
#endif
