# `cmake --install` gives a prefix from which `find_package(plimsoll)` works, with one target, plimsoll::plimsoll, and
# from which the programs run.

# plimsoll_install(PROGRAMS plimsoll_app HEADERS include/plimsoll/plimsoll.h)
#
# Installs the programs and every folder's library, and of the headers those named and what they include, directly or
# not: a user sees no other. Headers of src/ land in include/plimsoll/, which the libraries' targets add to the include path, so that
# `#include "core/result.h"` inside them resolves.
function(plimsoll_install)
  cmake_parse_arguments(ARG "" "" "PROGRAMS;HEADERS" ${ARGN})
  get_property(libraries GLOBAL PROPERTY PLIMSOLL_LIBRARIES)

  add_library(plimsoll_all INTERFACE)
  add_library(plimsoll::plimsoll ALIAS plimsoll_all)
  set_target_properties(plimsoll_all PROPERTIES EXPORT_NAME plimsoll)
  target_link_libraries(plimsoll_all INTERFACE ${libraries})
  target_include_directories(plimsoll_all INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plimsoll)
  install(TARGETS ${ARG_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS plimsoll_all ${libraries} EXPORT plimsoll ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT plimsoll NAMESPACE plimsoll:: FILE plimsoll-targets.cmake DESTINATION ${package_dir})
  include(CMakePackageConfigHelpers)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/plimsoll-config.cmake.in
                                ${PROJECT_BINARY_DIR}/plimsoll-config.cmake INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/plimsoll-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/plimsoll-config.cmake ${PROJECT_BINARY_DIR}/plimsoll-config-version.cmake
          DESTINATION ${package_dir})

  # When it installs, not when it configures: an edited #include needs no new configuration.
  install(CODE "set(root \"${PROJECT_SOURCE_DIR}\")
set(headers \"${ARG_HEADERS}\")
set(destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake)
endfunction()
