# Warnings, sanitizers, and what makes builds quick: ccache and a fast linker where they are installed.

add_library(plimsoll_warnings INTERFACE)
target_compile_options(plimsoll_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
                                                   -Wno-sign-conversion -Wno-missing-field-initializers)
# GCC 12 warns of overlaps in std::string at -O3 that are none (its bug 105651).
target_compile_options(plimsoll_warnings INTERFACE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>)
if(PLIMSOLL_WERROR)
  target_compile_options(plimsoll_warnings INTERFACE -Werror)
endif()

# No -march=native: kernels choose their instruction set at run time. Contraction would make f32 results depend on the
# instruction set that a file was compiled for.
add_compile_options(-ffp-contract=off)

if(PLIMSOLL_SANITIZE)
  add_compile_options(-fsanitize=${PLIMSOLL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PLIMSOLL_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
