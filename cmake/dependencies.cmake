# SPDX-License-Identifier: Apache-2.0
# What tests, examples and benchmarks need; the library itself needs nothing.
# An installed package is taken first; otherwise, with FP4_FETCH, its source is downloaded.
# FETCHCONTENT_SOURCE_DIR_<NAME> points the second way at a source tree that is already there.
include(FetchContent)

# fp4_dependency(<name>): afterwards the target of that package exists, unless it is neither installed nor fetched.
function(fp4_dependency name)
  if(name STREQUAL "Catch2")
    set(target Catch2::Catch2)
    set(source GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.7.1)
  elseif(name STREQUAL "nlohmann_json")
    set(target nlohmann_json::nlohmann_json)
    set(source GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.3)
  elseif(name STREQUAL "benchmark")
    set(target benchmark::benchmark)
    set(source GIT_REPOSITORY https://github.com/google/benchmark.git GIT_TAG v1.8.3)
    set(BENCHMARK_ENABLE_TESTING OFF CACHE INTERNAL "Google Benchmark's own tests")
  else()
    message(FATAL_ERROR "fp4_dependency: unknown package ${name}")
  endif()

  find_package(${name} QUIET GLOBAL)
  if(NOT TARGET ${target} AND FP4_FETCH)
    message(STATUS "fp4: ${name} is not installed, taking its source")
    FetchContent_Declare(${name} ${source} GIT_SHALLOW ON SYSTEM)
    FetchContent_MakeAvailable(${name})
  endif()
endfunction()
