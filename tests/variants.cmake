# SPDX-License-Identifier: Apache-2.0
# The compilers and flags under which the sources named *.variants.cpp are built and run once more.
# To add a variant, add a row at the end of this file.

option(FP4_BUILD_VARIANTS "Build the variants of tests: other compilers, flags and processors" ON)

find_program(FP4_GCC g++)
find_program(FP4_CLANG clang++)
find_program(FP4_AARCH64_GCC aarch64-linux-gnu-g++)
find_program(FP4_QEMU_AARCH64 qemu-aarch64)

# Every compiler gets the headers of Catch2. Where they lie in /usr/include it finds them itself, and naming that
# folder would break its search order.
set(catch_dirs "$<FILTER:$<TARGET_PROPERTY:Catch2::Catch2,INTERFACE_INCLUDE_DIRECTORIES>,EXCLUDE,^/usr/include$>")
set(catch_flags "$<$<BOOL:${catch_dirs}>:-isystem$<JOIN:${catch_dirs},$<SEMICOLON>-isystem>>")
set(test_flags ${FP4_WARNINGS} -I${PROJECT_SOURCE_DIR}/include -I${CMAKE_CURRENT_SOURCE_DIR}
               -DFP4_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}" "${catch_flags}")

# main() does not depend on the flags under test, so all compilers for this processor link the one object, and
# all for aarch64 a second one.
set(host_main $<TARGET_FILE:fp4_test_main>)
get_target_property(catch_type Catch2::Catch2 TYPE)
if(NOT catch_type STREQUAL "INTERFACE_LIBRARY")
  list(APPEND host_main $<TARGET_FILE:Catch2::Catch2>)
endif()

if(NOT FP4_AARCH64_GCC)
  set(no_aarch64 "aarch64-linux-gnu-g++ was not found")
elseif(NOT FP4_QEMU_AARCH64)
  set(no_aarch64 "qemu-aarch64 was not found")
elseif(NOT catch_type STREQUAL "INTERFACE_LIBRARY")
  set(no_aarch64 "Catch2 3 is a library, built for this processor only")
elseif(FP4_BUILD_VARIANTS)
  set(aarch64_main ${CMAKE_CURRENT_BINARY_DIR}/main.aarch64.o)
  add_custom_command(
    OUTPUT ${aarch64_main}
    COMMAND ${FP4_AARCH64_GCC} -std=c++17 -O1 ${test_flags} -c ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp -o ${aarch64_main}
    DEPENDS main.cpp catch.hpp
    COMMENT "Building main.aarch64.o" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(fp4_test_main_aarch64 DEPENDS ${aarch64_main})
endif()

# fp4_variant(<name> <compiler> <flag>...): one row. It is usable when the compiler exists and takes the flags.
function(fp4_variant name compiler)
  set(flags ${ARGN})
  set(why_not "")
  set(main ${host_main})
  set(runner "")
  if(compiler STREQUAL "gcc")
    set(command ${FP4_GCC})
  elseif(compiler STREQUAL "clang")
    set(command ${FP4_CLANG})
  elseif(compiler STREQUAL "aarch64-gcc")
    set(command ${FP4_AARCH64_GCC})
  elseif(compiler STREQUAL "aarch64-clang")
    set(command ${FP4_CLANG})
    list(PREPEND flags --target=aarch64-linux-gnu)
  endif()
  if(compiler MATCHES "^aarch64")
    set(why_not ${no_aarch64})
    set(main ${aarch64_main})
    set(runner ${FP4_QEMU_AARCH64})
    list(APPEND flags -static)
  endif()

  if(NOT command)
    set(why_not "no such compiler was found")
  elseif(NOT why_not)
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/probe)
    file(CONFIGURE OUTPUT ${probe}.cpp CONTENT "int main() {}\n")
    execute_process(COMMAND ${command} ${flags} ${probe}.cpp -o ${probe} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
      list(JOIN flags " " flags)
      set(why_not "${command} does not take ${flags}")
    endif()
  endif()

  if(why_not)
    fp4_skip_test(variants.${name} LABELS variants REASON "${why_not}")
  else()
    set(FP4_VARIANTS ${FP4_VARIANTS} ${name} PARENT_SCOPE)
    set(FP4_VARIANT_${name}_COMPILE ${command} ${flags} PARENT_SCOPE)
    set(FP4_VARIANT_${name}_MAIN ${main} PARENT_SCOPE)
    set(FP4_VARIANT_${name}_RUNNER ${runner} PARENT_SCOPE)
  endif()
endfunction()

# fp4_variants(<test> <source> ROWS <regex> LABELS <label>...): builds and runs one source under every usable row whose
# name matches.
function(fp4_variants test source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ROWS" "LABELS")
  set(programs "")
  list(FILTER FP4_VARIANTS INCLUDE REGEX ${arg_ROWS})
  foreach(name IN LISTS FP4_VARIANTS)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${test}@${name})
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${FP4_VARIANT_${name}_COMPILE} ${test_flags} -MD -MF ${program}.d -MT ${program}
              ${source} ${FP4_VARIANT_${name}_MAIN} -o ${program}
      DEPENDS ${source}
      DEPFILE ${program}.d
      COMMENT "Building ${test}@${name}" COMMAND_EXPAND_LISTS VERBATIM)
    fp4_add_test(${test}@${name} LABELS ${arg_LABELS} variants COMMAND ${FP4_VARIANT_${name}_RUNNER} ${program})
    list(APPEND programs ${program})
  endforeach()
  if(programs)
    add_custom_target(variants.${test} ALL DEPENDS ${programs})
    add_dependencies(variants.${test} fp4_test_main)
    if(TARGET fp4_test_main_aarch64)
      add_dependencies(variants.${test} fp4_test_main_aarch64)
    endif()
  endif()
endfunction()

if(FP4_BUILD_VARIANTS)
  # A row costs one more compilation of each source, so standards, optimisation levels and arithmetic flags are spread
  # over the rows. The tests without a variant are one row more: the project's compiler, C++17, Release.
  set(quick -DFP4_TEST_QUICK)
  fp4_variant(gcc-O0 gcc -std=c++17 -O0 ${quick})
  set(sanitize -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wno-maybe-uninitialized)  # g++'s advice
  fp4_variant(gcc-O1-sanitize gcc -std=c++20 -O1 ${sanitize} ${quick})
  fp4_variant(gcc-O2-native-fast-math gcc -std=c++2b -O2 -march=native -ffast-math)
  fp4_variant(gcc-O3-native-contract gcc -std=c++17 -O3 -march=native -ffp-contract=fast -fopenmp)
  fp4_variant(clang-O0 clang -std=c++2b -O0 ${quick})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    fp4_variant(clang-O1-fast-math clang -std=c++17 -O1 -ffast-math ${quick})
  endif()
  fp4_variant(clang-O2 clang -std=c++20 -O2 -fopenmp)
  fp4_variant(clang-O3-native-contract clang -std=c++17 -O3 -march=native -ffp-contract=fast)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    fp4_variant(aarch64-gcc-O2-contract aarch64-gcc -std=c++20 -O2 -ffp-contract=fast -fopenmp ${quick})
    fp4_variant(aarch64-gcc-O3-fast-math aarch64-gcc -std=c++17 -O3 -ffast-math ${quick})
    fp4_variant(aarch64-clang-O1 aarch64-clang -std=c++17 -O1 ${quick})
  endif()
  if(FP4_FULL)
    fp4_variant(gcc-O1 gcc -std=c++17 -O1)
    fp4_variant(gcc-O2 gcc -std=c++2b -O2 -fopenmp)
    fp4_variant(gcc-O3-fast-math gcc -std=c++20 -O3 -ffast-math)
    fp4_variant(clang-O1 clang -std=c++17 -O1)
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
      fp4_variant(clang-O2-native clang -std=c++20 -O2 -march=native)
      fp4_variant(clang-O2-native-fast-math clang -std=c++20 -O2 -march=native -ffast-math ${quick})
      fp4_variant(aarch64-gcc-O0 aarch64-gcc -std=c++17 -O0 ${quick})
      fp4_variant(aarch64-clang-O3 aarch64-clang -std=c++2b -O3 ${quick})
    endif()
  endif()
endif()
