# Installs adbo::adbo with its public headers, so that find_package(adbo) works for an embedder.
include(CMakePackageConfigHelpers)
install(TARGETS adbo EXPORT adboTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY engine/include/adbo kernels/include/adbo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT adboTargets NAMESPACE adbo:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/adbo)
configure_package_config_file(cmake/adboConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/adboConfig.cmake"
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/adbo)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/adboConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/adboConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/adboConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/adbo)
if(TARGET adbo_cli)
  install(TARGETS adbo_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
