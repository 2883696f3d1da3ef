# One library target a folder, linking only what it may see; tests stand beside the source.
#
#   plimsoll_folder(graph LINKS core)                      sources: *.cpp without *_test.cpp
#   plimsoll_folder(backends/cpu LINKS ops EXTERNAL dnnl)  target: plimsoll_backends_cpu
#
# A folder of headers alone becomes an interface target. Further sub-folders' sources are listed with SUBFOLDERS. Tests
# become bin/<target>_test, one executable a folder.
function(plimsoll_folder folder)
  cmake_parse_arguments(ARG "" "" "LINKS;EXTERNAL;SUBFOLDERS;TEST_LINKS;EXTRA_SOURCES" ${ARGN})
  string(REPLACE "/" "_" stem ${folder})
  set(target plimsoll_${stem})

  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(sub ${ARG_SUBFOLDERS})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${sub}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  if(sources OR ARG_EXTRA_SOURCES)
    set(visible PUBLIC)
    add_library(${target} STATIC ${sources} ${ARG_EXTRA_SOURCES})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:plimsoll_warnings> ${ARG_EXTERNAL})
  else()
    set(visible INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(plimsoll::${stem} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${stem})
  set_property(GLOBAL APPEND PROPERTY PLIMSOLL_LIBRARIES ${target})
  target_include_directories(${target} ${visible} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/plimsoll>)
  target_compile_features(${target} ${visible} cxx_std_20)
  foreach(link ${ARG_LINKS})
    string(REPLACE "/" "_" link_stem ${link})
    target_link_libraries(${target} ${visible} plimsoll_${link_stem})
  endforeach()

  if(PLIMSOLL_TESTS AND tests)
    add_executable(${target}_test ${tests})
    target_link_libraries(${target}_test PRIVATE ${target} plimsoll_warnings GTest::gtest_main GTest::gmock ${ARG_EXTERNAL})
    foreach(link ${ARG_TEST_LINKS})
      string(REPLACE "/" "_" link_stem ${link})
      target_link_libraries(${target}_test PRIVATE plimsoll_${link_stem})
    endforeach()
    add_test(NAME ${folder} COMMAND ${target}_test --gtest_brief=1)
    set_tests_properties(${folder} PROPERTIES LABELS fast)
  endif()
endfunction()
