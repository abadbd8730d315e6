// NumPy arrays → views, and tuples of arrays and numbers → structs of views. For module.cpp only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "binarization.hpp"
#include "cascade.hpp"
#include "class_splits.hpp"
#include "coded.hpp"
#include "elementary.hpp"
#include "exact_cuts.hpp"
#include "leaf_tree.hpp"
#include "logistic.hpp"
#include "pair_rounds.hpp"
#include "pairs.hpp"
#include "posterior.hpp"
#include "prediction.hpp"
#include "random.hpp"
#include "responses.hpp"
#include "search.hpp"
#include "similarity.hpp"
#include "slopes.hpp"
#include "smooth_features.hpp"
#include "steps.hpp"
#include "tree_rounds.hpp"
#include "weights.hpp"
#include "windows.hpp"

namespace nanobind::detail {

// Arrays are never converted, because a kernel would then write its results to a copy. The caster
// holds the array, so that it lives as long as the call.
template <class View, class T, size_t n_dims>
struct view_caster {
    using Array = make_caster<ndarray<T, numpy, ndim<n_dims>, c_contig, device::cpu>>;
    static constexpr auto Name = Array::Name;
    template <class>
    using Cast = View;

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        flags &= static_cast<uint8_t>(~static_cast<uint8_t>(cast_flags::convert));
        return array.from_python(source, flags, cleanup);
    }
    template <class>
    static constexpr bool can_cast() {
        return true;
    }
    explicit operator View() {
        return [this]<size_t... i>(std::index_sequence<i...>) {
            return View{array.value.data(), array.value.shape(i)...};
        }(std::make_index_sequence<n_dims>());
    }

    Array array;
};

template <class T>
struct type_caster<rebel::Vector<T>> : view_caster<rebel::Vector<T>, T, 1> {};
template <class T>
struct type_caster<rebel::Matrix<T>> : view_caster<rebel::Matrix<T>, T, 2> {};
template <class T>
struct type_caster<rebel::Cube<T>> : view_caster<rebel::Cube<T>, T, 3> {};

// A struct is a tuple of its fields, in order.
template <class Struct, class... Fields>
struct struct_caster {
    using Tuple = make_caster<std::tuple<Fields...>>;
    static constexpr auto Name = Tuple::Name;
    template <class>
    using Cast = Struct;

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        return tuple.from_python(source, flags, cleanup);
    }
    template <class>
    static constexpr bool can_cast() {
        return true;
    }
    explicit operator Struct() {
        return std::apply([](const Fields&... fields) { return Struct{fields...}; },
                          static_cast<std::tuple<Fields...>>(tuple));
    }

    Tuple tuple;
};

using rebel::Cube, rebel::Matrix, rebel::Vector;
using F64 = const double;
using I32 = const int32_t;
using I64 = const int64_t;
using U8 = const uint8_t;

template <>
struct type_caster<rebel::Criterion> {
    NB_TYPE_CASTER(rebel::Criterion, const_name("int"))
    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<uint8_t> code;
        if (!code.from_python(source, flags, cleanup))
            return false;
        value = static_cast<rebel::Criterion>(code.value);
        return true;
    }
};

template <>
struct type_caster<rebel::Bins> : struct_caster<rebel::Bins, Cube<U8>, Vector<I32>, Vector<U8>> {};
template <>
struct type_caster<rebel::Nodes> : struct_caster<rebel::Nodes, Vector<I32>, Matrix<I32>> {};
template <>
struct type_caster<rebel::Layer> : struct_caster<rebel::Layer, Vector<I32>, Matrix<U8>> {};
template <>
struct type_caster<rebel::GrownNodes>
    : struct_caster<rebel::GrownNodes, Vector<int32_t>, Matrix<uint8_t>> {};
template <>
struct type_caster<rebel::Splits> : struct_caster<rebel::Splits, Vector<int32_t>, Matrix<uint8_t>,
                                                  Matrix<int64_t>, Vector<double>> {};
template <>
struct type_caster<rebel::SearchOptions>
    : struct_caster<rebel::SearchOptions, rebel::Criterion, int64_t, double> {};
template <>
struct type_caster<rebel::Projection>
    : struct_caster<rebel::Projection, Vector<F64>, Vector<F64>, double, double> {};
template <>
struct type_caster<rebel::LogisticLine> : struct_caster<rebel::LogisticLine, Cube<F64>, Cube<F64>,
                                                        Matrix<F64>, Matrix<F64>, Vector<F64>> {};
template <>
struct type_caster<rebel::Step>
    : struct_caster<rebel::Step, Matrix<F64>, Matrix<F64>, Matrix<F64>, Vector<F64>> {};
template <>
struct type_caster<rebel::JudgedLabels>
    : struct_caster<rebel::JudgedLabels, Vector<I32>, Vector<F64>, Matrix<F64>, Vector<I64>> {};
template <>
struct type_caster<rebel::TreeData> : struct_caster<rebel::TreeData, Matrix<const uint32_t>,
                                                    Vector<F64>, Vector<I32>, Vector<F64>, double> {
};
template <>
struct type_caster<rebel::Focus> : struct_caster<rebel::Focus, Vector<I32>, Vector<U8>> {};
template <>
struct type_caster<rebel::RootTotals>
    : struct_caster<rebel::RootTotals, Vector<I64>, Vector<I64>, bool> {};
template <>
struct type_caster<rebel::GrownTree>
    : struct_caster<rebel::GrownTree, Vector<int32_t>, Matrix<uint8_t>, Vector<double>,
                    Vector<uint8_t>, Vector<int32_t>, Vector<double>, Vector<uint16_t>> {};
template <>
struct type_caster<rebel::LeafSums>
    : struct_caster<rebel::LeafSums, Matrix<double>, Matrix<double>, Matrix<double>> {};
template <>
struct type_caster<rebel::LeafTreeOptions>
    : struct_caster<rebel::LeafTreeOptions, uint64_t, double, double> {};
template <>
struct type_caster<rebel::Slopes>
    : struct_caster<rebel::Slopes, Matrix<F64>, Matrix<F64>, Vector<F64>> {};
template <>
struct type_caster<rebel::TreeScratch>
    : struct_caster<rebel::TreeScratch, Vector<int64_t>, Matrix<int64_t>> {};
template <>
struct type_caster<rebel::Boosted>
    : struct_caster<rebel::Boosted, Cube<double>, Matrix<double>, Vector<double>, Vector<int32_t>,
                    rebel::JudgedLabels> {};
template <>
struct type_caster<rebel::RoundLog>
    : struct_caster<rebel::RoundLog, Vector<double>, Matrix<int32_t>, Cube<double>, Cube<double>> {
};
template <>
struct type_caster<rebel::TreePlan>
    : struct_caster<rebel::TreePlan, Vector<I32>, Matrix<U8>, Vector<const uint64_t>, double,
                    double, double, double> {};
template <>
struct type_caster<rebel::TreeMemory>
    : struct_caster<rebel::TreeMemory, rebel::GrownTree, rebel::LeafSums, rebel::TreeScratch> {};
template <>
struct type_caster<rebel::TreeTable>
    : struct_caster<rebel::TreeTable, Vector<int32_t>, Vector<int32_t>, Vector<double>,
                    Vector<uint8_t>, Vector<int32_t>, Matrix<uint8_t>, Matrix<double>,
                    Vector<double>> {};
template <>
struct type_caster<rebel::Trees>
    : struct_caster<rebel::Trees, Vector<I32>, Vector<I64>, Vector<I64>, Vector<I32>, Vector<F64>,
                    Vector<U8>, Vector<I32>, Matrix<U8>, Matrix<F64>> {};
template <>
struct type_caster<rebel::PairList>
    : struct_caster<rebel::PairList, Vector<I32>, Vector<I32>, Vector<F64>> {};
template <>
struct type_caster<rebel::Comparisons>
    : struct_caster<rebel::Comparisons, Vector<I32>, Vector<I32>, Vector<I32>, Vector<F64>,
                    Matrix<F64>, Matrix<F64>> {};

template <>
struct type_caster<rebel::LevelSums>
    : struct_caster<rebel::LevelSums, Matrix<double>, Matrix<double>, Matrix<double>> {};
template <>
struct type_caster<rebel::PairSpace>
    : struct_caster<rebel::PairSpace, Cube<const float>, Matrix<const float>, Matrix<const float>> {
};
template <>
struct type_caster<rebel::PairOptions>
    : struct_caster<rebel::PairOptions, int, int, size_t, size_t, size_t> {};
template <>
struct type_caster<rebel::PairQueue>
    : struct_caster<rebel::PairQueue, Vector<int32_t>, Matrix<int32_t>, Matrix<float>> {};
template <>
struct type_caster<rebel::PairTerm>
    : struct_caster<rebel::PairTerm, Vector<uint16_t>, Matrix<double>, Matrix<double>,
                    Matrix<double>> {};

template <>
struct type_caster<rebel::PairPlan>
    : struct_caster<rebel::PairPlan, Vector<I32>, rebel::PairOptions, Vector<const uint64_t>,
                    double, double> {};
template <>
struct type_caster<rebel::HeldPoints>
    : struct_caster<rebel::HeldPoints, Matrix<const float>, Cube<const float>> {};
template <>
struct type_caster<rebel::PairTable>
    : struct_caster<rebel::PairTable, Vector<uint8_t>, Vector<int32_t>, Vector<int32_t>,
                    Vector<double>, Cube<double>> {};
template <>
struct type_caster<rebel::DescentOptions>
    : struct_caster<rebel::DescentOptions, double, double, size_t, size_t> {};

template <>
struct type_caster<rebel::Rectangles>
    : struct_caster<rebel::Rectangles, Vector<I32>, Matrix<I32>, Matrix<I32>> {};
template <>
struct type_caster<rebel::WindowGrid> : struct_caster<rebel::WindowGrid, size_t, size_t, size_t> {};
template <>
struct type_caster<rebel::CodedColumns>
    : struct_caster<rebel::CodedColumns, Vector<I32>, Vector<I64>, Vector<F64>, Vector<U8>,
                    Vector<U8>> {};
template <>
struct type_caster<rebel::CodedTrees>
    : struct_caster<rebel::CodedTrees, Vector<I32>, Vector<I64>, Vector<I64>,
                    Matrix<const uint16_t>, Matrix<U8>, Matrix<F64>> {};
template <>
struct type_caster<rebel::Steps>
    : struct_caster<rebel::Steps, Vector<I32>, Vector<I64>, Vector<F64>, Vector<I64>, Vector<U8>,
                    Matrix<F64>> {};
template <>
struct type_caster<rebel::ComparedPoints>
    : struct_caster<rebel::ComparedPoints, Matrix<const float>, Matrix<const float>,
                    rebel::Comparisons> {};
template <>
struct type_caster<rebel::Checks>
    : struct_caster<rebel::Checks, Matrix<I64>, Vector<F64>, Vector<F64>> {};

template <>
struct type_caster<rebel::Work> {
    using Tuple = std::tuple<int64_t, int64_t>;
    NB_TYPE_CASTER(rebel::Work, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::Work& work, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(work.visited, work.dropped), policy, cleanup);
    }
};

template <>
struct type_caster<rebel::Proposed> {
    using Tuple = std::tuple<int, int32_t, int32_t, double, double>;
    NB_TYPE_CASTER(rebel::Proposed, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::Proposed& term, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(
            Tuple(term.kind, term.anchor, term.rival, term.apart, term.edge), policy, cleanup);
    }
};

template <>
struct type_caster<rebel::Isolated> {
    using Tuple = std::tuple<int32_t, double>;
    NB_TYPE_CASTER(rebel::Isolated, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::Isolated& best, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(best.sample, best.loss), policy, cleanup);
    }
};

template <>
struct type_caster<rebel::Stump> {
    using Tuple = std::tuple<int32_t, int64_t, rebel::Work>;
    NB_TYPE_CASTER(rebel::Stump, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::Stump& stump, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(stump.feature, stump.criterion, stump.work),
                                            policy, cleanup);
    }
};

template <>
struct type_caster<rebel::Rates> {
    using Tuple = std::tuple<double, double>;
    NB_TYPE_CASTER(rebel::Rates, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::Rates& rates, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(rates.error, rates.cost), policy, cleanup);
    }
};

template <>
struct type_caster<rebel::Taken> {
    using Tuple = std::tuple<int, bool, rebel::Rates>;
    NB_TYPE_CASTER(rebel::Taken, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::Taken& taken, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(taken.shift, taken.loose, taken.rates), policy,
                                            cleanup);
    }
};

template <>
struct type_caster<rebel::DirectionSizes> {
    using Tuple = std::tuple<double, double>;
    NB_TYPE_CASTER(rebel::DirectionSizes, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::DirectionSizes& sizes, rv_policy policy,
                           cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(sizes.reach, sizes.mass), policy, cleanup);
    }
};

template <>
struct type_caster<rebel::DistanceSums> {
    using Tuple = std::tuple<double, double>;
    NB_TYPE_CASTER(rebel::DistanceSums, make_caster<Tuple>::Name)
    static handle from_cpp(const rebel::DistanceSums& sums, rv_policy policy,
                           cleanup_list* cleanup) {
        return make_caster<Tuple>::from_cpp(Tuple(sums.squared, sums.absolute), policy, cleanup);
    }
};

} // namespace nanobind::detail
