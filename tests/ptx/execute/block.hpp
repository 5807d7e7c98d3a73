// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "execute/warp.hpp"
#include "memory/block_memory.hpp"

namespace ptx {

/// What all blocks of a launch share.
struct launch_state {
  program const& code;
  function_code const& kernel;
  launch_request const& request;
  machine_options const& options;
  launch_memory memory;
  std::uint64_t parameter_base = 0;  ///< their copy in constant memory
  std::uint64_t grid_workspace = 0;  ///< for grid-wide barriers of cooperative launches
  std::uint32_t dynamic_shared_base = 0;
  std::vector<register_file> idle{};    ///< of warps that ended
  std::vector<std::uint64_t> counts{};  ///< of threads, by instruction
  std::uint64_t warp_instructions = 0;
  std::uint64_t ticks = 0;  ///< what clocks show, without the running group: what was used up, so that waiting counts
};

/// A thread block: its warps in turn, its barriers, its memory.
class block {
 public:
  block(launch_state& launch, std::uint64_t index);
  ~block();
  block(block const&) = delete;
  block& operator=(block const&) = delete;

  /// Runs until all threads have ended (true) or others should have a turn (false).
  /// \throws fault when nobody can go on
  bool run();

  [[nodiscard]] launch_state& launch() const { return *launch_; }
  [[nodiscard]] block_memory& memory() { return memory_; }
  [[nodiscard]] std::uint64_t index() const { return index_; }
  [[nodiscard]] dim3 position() const;

  /// A finding that names all places where threads are.
  [[nodiscard]] finding stuck(problem kind, std::string message) const;

  /// Lanes of a warp come to a barrier: they wait, or only say so (bar.arrive). expected 0 is all threads.
  void arrive(warp& who, lane_set m, std::uint32_t barrier, std::uint32_t expected, bool waits, instruction const& i);
  /// Lanes of a warp ended, which may complete barriers.
  void lanes_ended();

 private:
  struct barrier_state {
    std::vector<lane_set> arrived{}, waited{};
    std::uint32_t count = 0, expected = 0;
    std::uint32_t votes = 0;  ///< bar.red: threads whose predicate is true
    bool used = false;
  };

  void try_complete(barrier_state& b, std::uint32_t number);
  void check_alignment(std::size_t w, lane_set waiting) const;

  launch_state* launch_;
  std::uint64_t index_;
  block_memory memory_;
  std::vector<warp> warps_;
  std::array<barrier_state, 16> barriers_{};
};

}  // namespace ptx
