// SPDX-License-Identifier: Apache-2.0
// Graphs: captured (streams.cpp) or built node by node. A node's dependencies were there before it, so the order in
// which nodes are added is one in which they can run.
#include <algorithm>

#include "device.hpp"
#include "streams.hpp"

using namespace ptx::runtime;

CUgraph_st::~CUgraph_st() {
  for (auto* n : nodes) { delete n; }
}

namespace {

void add(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* after, std::size_t n, cudaGraphNodeType type,
         std::function<void()> work) {
  for (std::size_t i = 0; i < n; ++i) {
    if (std::find(graph->nodes.begin(), graph->nodes.end(), after[i]) == graph->nodes.end()) {
      throw refusal(cudaErrorInvalidValue, "a node depends on a node of another graph");
    }
  }
  graph->nodes.push_back(new CUgraphNode_st{type, std::move(work)});
  *node = graph->nodes.back();
}

/// What a runtime call does when the graph runs: its error, already printed, ends the graph's launch.
void demand(cudaError_t code) {
  if (code != cudaSuccess) { throw refusal(code, "a node of the graph failed"); }
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  return call("cudaGraphCreate", [&] { *graph = new CUgraph_st; });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* after,
                                  std::size_t n) {
  return call("cudaGraphAddEmptyNode", [&] { add(node, graph, after, n, cudaGraphNodeTypeEmpty, [] {}); });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* after,
                                   std::size_t n, cudaKernelNodeParams const* p) {
  return call("cudaGraphAddKernelNode", [&] {
    auto& kernel = kernel_of(p->func);
    auto const r = prepare(kernel, p->gridDim, p->blockDim, p->sharedMemBytes, p->kernelParams);
    add(node, graph, after, n, cudaGraphNodeTypeKernel, [&kernel, r] { launch(kernel, r); });
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* after,
                                     std::size_t n, void* to, void const* from, std::size_t size, cudaMemcpyKind kind) {
  return call("cudaGraphAddMemcpyNode1D", [&] {
    add(node, graph, after, n, cudaGraphNodeTypeMemcpy, [=] { demand(cudaMemcpy(to, from, size, kind)); });
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* after,
                                   std::size_t n, cudaMemsetParams const* params) {
  return call("cudaGraphAddMemsetNode", [&] {
    if (params->elementSize != 1) {
      throw refusal(cudaErrorNotSupported, "memset nodes of elements wider than a byte are not implemented");
    }
    auto const p = *params;
    add(node, graph, after, n, cudaGraphNodeTypeMemset,
        [p] { demand(cudaMemset2D(p.dst, p.pitch, static_cast<int>(p.value), p.width, p.height)); });
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* n) {
  return call("cudaGraphGetNodes", [&] {
    if (nodes != nullptr) {
      *n = std::min(*n, graph->nodes.size());
      std::copy_n(graph->nodes.begin(), *n, nodes);
    } else {
      *n = graph->nodes.size();
    }
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", [&] {
    *exec = new CUgraphExec_st;
    for (auto const* n : graph->nodes) { (*exec)->nodes.push_back(*n); }
  });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", [&] {
    submit(stream, cudaGraphNodeTypeGraph, [nodes = exec->nodes] {
      for (auto const& n : nodes) { n.work(); }
    });
  });
}

}  // extern "C"
