# Runs at install time. Copies `headers` (paths below `root`) and what they include of ours to `destination`:
# src/core/result.h to plimsoll/core/result.h, include/plimsoll/plimsoll.h to plimsoll/plimsoll.h. Ours are included in
# quotes; `#include <memory>` is not the folder src/memory.

cmake_policy(VERSION 3.25)

set(waiting ${headers})
set(copied "")
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST copied)
    continue()
  endif()
  list(APPEND copied ${header})

  string(REGEX REPLACE "^src/" "plimsoll/" installed ${header})
  string(REGEX REPLACE "^include/" "" installed ${installed})
  get_filename_component(folder ${installed} DIRECTORY)
  file(INSTALL "${root}/${header}" DESTINATION "${destination}/${folder}")

  file(STRINGS "${root}/${header}" lines REGEX "^ *# *include +\"[^\"]+\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^ *# *include +\"([^\"]+)\".*" "\\1" path "${line}")
    foreach(candidate "src/${path}" "include/${path}")
      if(EXISTS "${root}/${candidate}" AND NOT IS_DIRECTORY "${root}/${candidate}")
        list(APPEND waiting ${candidate})
      endif()
    endforeach()
  endforeach()
endwhile()
