// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Streams, events and graphs. Work is done when it is submitted, in the order in which the host submits it, which is
/// one of the orders that a device may choose. A captured graph is the list of what was submitted.

#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <vector>

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::function<void()> work;
};

struct CUgraph_st {
  std::vector<CUgraphNode_st*> nodes;  ///< in an order that their dependencies allow
  ~CUgraph_st();
};

struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
};

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  cudaGraph_t capture = nullptr;  ///< what it is captured into
  bool origin = false;            ///< the capture began here
  bool global_mode = false;
  unsigned long long unjoined = 0;  ///< captured work that the origin has not waited for; 0: none
};

struct CUevent_st {
  bool recorded = false;
  std::chrono::steady_clock::time_point when;
  unsigned flags = 0;
  cudaGraph_t capture = nullptr;  ///< recorded in a captured stream
  CUstream_st* stream = nullptr;
  unsigned long long work = 0;  ///< `unjoined` of the stream then
};
