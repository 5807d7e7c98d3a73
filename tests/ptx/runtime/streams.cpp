// SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include <algorithm>
#include <set>

#include "device.hpp"

using namespace ptx::runtime;

namespace {

std::set<CUstream_st*> streams;
std::set<CUevent_st*> events;

bool is_default(cudaStream_t s) { return s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread; }

CUstream_st* checked(cudaStream_t s) {
  if (is_default(s)) { return nullptr; }
  if (streams.count(s) == 0) { throw refusal(cudaErrorInvalidResourceHandle, "no such stream"); }
  return s;
}

CUevent_st& checked(cudaEvent_t e) {
  if (events.count(e) == 0) { throw refusal(cudaErrorInvalidResourceHandle, "no such event"); }
  return *e;
}

bool any_capture() {
  return std::any_of(streams.begin(), streams.end(), [](auto* s) { return s->capture != nullptr; });
}

cudaError_t make_stream(cudaStream_t* stream, unsigned flags, int priority) {
  return call("cudaStreamCreate", [&] {
    *stream = *streams.insert(new CUstream_st).first;
    (*stream)->flags = flags;
    (*stream)->priority = priority;
  });
}

cudaError_t make_event(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreate", [&] {
    *event = *events.insert(new CUevent_st).first;
    (*event)->flags = flags;
  });
}

void end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  CUstream_st* const s = checked(stream);
  if (s == nullptr || s->capture == nullptr) {
    throw refusal(cudaErrorIllegalState, "the stream is not being captured");
  }
  if (!s->origin) { throw refusal(cudaErrorStreamCaptureUnmatched, "the capture began in another stream"); }
  auto* const captured = s->capture;
  bool unjoined = false;
  for (auto* other : streams) {
    if (other->capture != captured) { continue; }
    unjoined = unjoined || (!other->origin && other->unjoined != 0);
    other->capture = nullptr;
    other->origin = false;
    other->unjoined = 0;
  }
  for (auto* e : events) {
    if (e->capture == captured) { e->capture = nullptr; }
  }
  *graph = nullptr;
  if (unjoined) {
    delete captured;
    throw refusal(cudaErrorStreamCaptureUnjoined, "work of another stream was captured and never waited for");
  }
  *graph = captured;
}

void wait(cudaStream_t stream, CUevent_st& e) {
  CUstream_st* const s = checked(stream);
  if (e.capture == nullptr) { return; }
  if (s == nullptr || (s->capture != nullptr && s->capture != e.capture)) {
    throw refusal(cudaErrorStreamCaptureIsolation, "an event of a captured stream is waited for outside the capture");
  }
  s->capture = e.capture;
  if (s != e.stream && e.stream->unjoined == e.work) { e.stream->unjoined = 0; }
  if (!s->origin && s != e.stream) { ++s->unjoined; }
}

}  // namespace

namespace ptx::runtime {

void submit(cudaStream_t stream, cudaGraphNodeType type, std::function<void()> work) {
  CUstream_st* const s = checked(stream);
  if (s != nullptr && s->capture != nullptr) {
    s->capture->nodes.push_back(new CUgraphNode_st{type, std::move(work)});
    if (!s->origin) { ++s->unjoined; }
    return;
  }
  if (s == nullptr && stream != cudaStreamPerThread && any_capture()) {
    throw refusal(cudaErrorStreamCaptureImplicit, "work for the default stream while another stream is captured");
  }
  work();
}

void not_while_capturing() {
  if (std::any_of(streams.begin(), streams.end(), [](auto* s) { return s->origin && s->global_mode; })) {
    throw refusal(cudaErrorStreamCaptureUnsupported, "not permitted while a stream is captured");
  }
}

}  // namespace ptx::runtime

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* s) { return make_stream(s, cudaStreamDefault, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) { return make_stream(s, flags, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int priority) {
  return make_stream(s, flags, priority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&] {
    CUstream_st* const s = checked(stream);
    if (s == nullptr) { throw refusal(cudaErrorInvalidResourceHandle, "the default stream cannot be destroyed"); }
    streams.erase(s);
    delete s;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&] {
    CUstream_st* const s = checked(stream);
    if (s != nullptr && s->capture != nullptr) {
      throw refusal(cudaErrorStreamCaptureUnsupported, "the stream is being captured");
    }
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  return call("cudaStreamAddCallback",
              [&] { submit(stream, cudaGraphNodeTypeHost, [=] { function(stream, cudaSuccess, data); }); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&] { wait(stream, checked(event)); });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call("cudaStreamGetFlags", [&] {
    CUstream_st const* const s = checked(stream);
    *flags = s != nullptr ? s->flags : 0;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call("cudaStreamGetPriority", [&] {
    CUstream_st const* const s = checked(stream);
    *priority = s != nullptr ? s->priority : 0;
  });
}
cudaError_t cudaStreamGetDevice(cudaStream_t, int* which) {
  *which = 0;
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", [&] { submit(stream, cudaGraphNodeTypeHost, [=] { function(data); }); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", [&] {
    CUstream_st* const s = checked(stream);
    if (s == nullptr) { throw refusal(cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured"); }
    if (s->capture != nullptr) { throw refusal(cudaErrorIllegalState, "the stream is already being captured"); }
    s->capture = new CUgraph_st;
    s->origin = true;
    s->global_mode = mode == cudaStreamCaptureModeGlobal;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", [&] { end_capture(stream, graph); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", [&] {
    CUstream_st const* const s = checked(stream);
    *status = s != nullptr && s->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* e) { return make_event(e, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) { return make_event(e, flags); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&] {
    auto& e = checked(event);
    CUstream_st* const s = checked(stream);
    e.recorded = true;
    e.when = std::chrono::steady_clock::now();
    e.stream = s;
    e.capture = s != nullptr ? s->capture : nullptr;
    e.work = s != nullptr ? s->unjoined : 0;
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&] { checked(event); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&] {
    if (checked(event).capture != nullptr) {
      throw refusal(cudaErrorStreamCaptureUnsupported, "the event belongs to a capture");
    }
  });
}
/// Time of the interpreter on this machine: it says nothing of a device.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [&] {
    auto const &a = checked(start), &b = checked(end);
    if (!a.recorded || !b.recorded) { throw refusal(cudaErrorInvalidResourceHandle, "the event was never recorded"); }
    if (((a.flags | b.flags) & cudaEventDisableTiming) != 0) {
      throw refusal(cudaErrorInvalidResourceHandle, "the event was made without timing");
    }
    *ms = std::chrono::duration<float, std::milli>(b.when - a.when).count();
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", [&] {
    auto* const e = &checked(event);
    events.erase(e);
    delete e;
  });
}

}  // extern "C"
