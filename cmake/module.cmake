# The extension module, bound by nanobind: for Python 3.11 and for free-threaded Pythons one each,
# for all others the stable ABI of 3.12 (tool.scikit-build.wheel.py-api asks for it).
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
find_package(nanobind CONFIG REQUIRED)

nanobind_add_module(_compiled NB_STATIC STABLE_ABI FREE_THREADED cpp/module.cpp)
target_link_libraries(_compiled PRIVATE rebelboost_kernels)
install(TARGETS _compiled LIBRARY DESTINATION rebelboost/kernels)

# The stub is written by importing the module, which a sanitizer and another processor do not allow.
set(REBELBOOST_STUB "" CACHE FILEPATH "A stub of the module, where it cannot be imported")
if(REBELBOOST_STUB)
  install(FILES "${REBELBOOST_STUB}" DESTINATION rebelboost/kernels)
elseif(NOT REBELBOOST_SANITIZE)
  nanobind_add_stub(_compiled_stub
    MODULE _compiled OUTPUT _compiled.pyi
    PYTHON_PATH $<TARGET_FILE_DIR:_compiled> DEPENDS _compiled)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/_compiled.pyi DESTINATION rebelboost/kernels)
endif()

# What is compiled in, as CycloneDX, where PEP 770 wants it.
if(SKBUILD)
  file(STRINGS "${nanobind_ROOT}/../ext/robin_map/include/tsl/robin_growth_policy.h" robin_map_VERSION
    REGEX "define TSL_RH_VERSION_")
  string(REGEX REPLACE "[^0-9;]" "" robin_map_VERSION "${robin_map_VERSION}")
  string(REPLACE ";" "." robin_map_VERSION "${robin_map_VERSION}")
  set(robin_map_TAG "v${robin_map_VERSION}")
  configure_file(cmake/sbom.cdx.json.in sbom/rebelboost.cdx.json @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sbom/rebelboost.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms)
endif()
