// What is done with examples on a GPU; `device.py` calls these functions.
//
// Sums of floats are taken in the order in which the processor takes them, and never with fused multiplications (the
// module is compiled with --fmad=false), so that an example is on the same side of a plane everywhere. What is counted
// is whole numbers: these add up to the same in any order. Weights are whole numbers, too, in small units.

typedef long long int64;
typedef unsigned long long uint64;

// Where crossings are said to be nowhere.
const float FAR = 1e30f;
// Threads of a block that counts, such blocks on a multiprocessor, and values that a thread asks for at the same time.
#define N_THREADS 512
#define BLOCKS_EACH 3
#define N_TOGETHER 16

// Planes as lists of their terms, those with a coefficient other than 0.
struct Planes {
    const int64* starts;    // (q + 1)
    const int* attributes;  // (n_terms)
    const float* coefficients;
    const float* constants;  // (q)
};

// The array of the user.
template <typename T>
struct Table {
    const T* values;
    int64 row_step;
    int64 column_step;
    const double* fill;  // what missing values count as
};

__device__ inline float margin_of(const Planes& planes, int q, const float* columns, int64 stride, int64 j) {
    float margin = planes.constants[q];
    for (int64 t = planes.starts[q]; t < planes.starts[q + 1]; t++)
        margin = margin + planes.coefficients[t] * columns[planes.attributes[t] * stride + j];
    return margin;
}

// The bucket, among 2 * half, of a crossing at t, which is near: see `bucket_of` in kernels/crossings.py.
__device__ inline int bucket_at(float t, float centre, float scale, int half) {
    float end = (float)half, u = t - centre, above = end * scale, below = fabsf(u) + scale;
    // A quotient that is right but for its last bits, which takes a fraction of the time, tells the bucket, unless it
    // is so near an edge that these could matter.
    float place = end - __fdividef(above, below), inside = place - truncf(place), close = 1e-6f * end;
    if (inside < close || inside > 1.0f - close) place = end - above / below;
    int inner = min((int)place, half - 1);
    return u >= 0.0f ? half + inner : half - 1 - inner;
}

// The same of an example; those that never cross have two buckets of their own.
__device__ inline int bucket_of(float margin, float rate, float centre, float scale, int half) {
    float t = -margin / rate;
    if (!(fabsf(t) < FAR)) return 4 * half + (margin > 0.0f ? 1 : 0);
    return bucket_at(t, centre, scale, half) + (rate < 0.0f ? 2 * half : 0);
}

// Count examples by class and bucket along lines: a block looks at a chunk of one class along one line, and counts in
// its shared memory first. `chunks` has (class, begin, end) of each; `which` says of what a direction consists: an
// attribute, the constant (n_features), or anything (-1).
template <typename Count>
__global__ void __launch_bounds__(N_THREADS, BLOCKS_EACH) count_lines(const float* columns, int64 stride, const int64* chunks,
                            const int64* planes_starts, const int* planes_attributes, const float* planes_coefficients,
                            const float* planes_constants, const int64* directions_starts,
                            const int* directions_attributes, const float* directions_coefficients,
                            const float* directions_constants, const int* plane_of, const int* which, const int* sides, const float* centres,
                            const float* scales, int n_features, int half, int n_classes, const unsigned char* mask,
                            const int64* weights, Count* counts) {
    Planes planes = {planes_starts, planes_attributes, planes_coefficients, planes_constants};
    Planes directions = {directions_starts, directions_attributes, directions_coefficients, directions_constants};
    extern __shared__ uint64 shared[];
    Count* own = (Count*)shared;
    int width = 4 * half + 2, q = blockIdx.y;
    const int64* chunk = chunks + 3 * blockIdx.x;
    for (int b = threadIdx.x; b < width; b += N_THREADS) own[b] = 0;
    __syncthreads();
    int plane = plane_of[q], moving = which[q], side = sides[q];
    float centre = centres[q], scale = scales[q];
    int only = planes.starts[plane] < planes.starts[plane + 1] ? planes.attributes[planes.starts[plane]] : 0;
    const unsigned char* is_missing = side != 0 && mask ? mask + only * stride : 0;
    bool is_axis = moving == n_features && planes.starts[plane + 1] - planes.starts[plane] == 1 && !is_missing;
    int64 j = chunk[1] + threadIdx.x, end = chunk[2];
    if (is_axis) {  // one attribute: several values are on their way at the same time
        const float* column = columns + only * stride;
        float factor = planes.coefficients[planes.starts[plane]], constant = planes.constants[plane];
        for (; j + (N_TOGETHER - 1) * N_THREADS < end; j += N_TOGETHER * N_THREADS) {
            float x[N_TOGETHER];
#pragma unroll
            for (int i = 0; i < N_TOGETHER; i++) x[i] = column[j + i * N_THREADS];
#pragma unroll
            for (int i = 0; i < N_TOGETHER; i++) {
                float t = -(constant + factor * x[i]);
                int code = fabsf(t) < FAR ? bucket_at(t, centre, scale, half) : 4 * half + (t < 0.0f ? 1 : 0);
                atomicAdd(own + code, weights ? (Count)weights[j + i * N_THREADS] : (Count)1);
            }
        }
    }
    for (; j < end; j += N_THREADS) {
        float margin = margin_of(planes, plane, columns, stride, j), rate = 1.0f;
        if (moving < 0)
            rate = margin_of(directions, q, columns, stride, j);
        else if (moving < n_features)
            rate = columns[moving * stride + j];
        int code = bucket_of(margin, rate, centre, scale, half);
        if (is_missing && is_missing[j]) code = 4 * half + (side > 0 ? 1 : 0);
        atomicAdd(own + code, weights ? (Count)weights[j] : (Count)1);
    }
    __syncthreads();
    Count* out = counts + ((int64)q * n_classes + chunk[0]) * width;
    for (int b = threadIdx.x; b < width; b += N_THREADS)
        if (own[b] != 0) atomicAdd(out + b, own[b]);
}

// Count examples by class on the left of planes, and on their right: (q, n_classes, 2).
template <typename Count>
__global__ void count_sides(const float* columns, int64 stride, const int64* chunks,
                            const int64* planes_starts, const int* planes_attributes, const float* planes_coefficients,
                            const float* planes_constants, const int* sides,
                            int n_classes, const unsigned char* mask, const int64* weights, Count* counts) {
    Planes planes = {planes_starts, planes_attributes, planes_coefficients, planes_constants};
    __shared__ Count own[2];
    int q = blockIdx.y, side = sides[q];
    const int64* chunk = chunks + 3 * blockIdx.x;
    if (threadIdx.x < 2) own[threadIdx.x] = 0;
    __syncthreads();
    int only = planes.starts[q] < planes.starts[q + 1] ? planes.attributes[planes.starts[q]] : 0;
    const unsigned char* is_missing = side != 0 && mask ? mask + only * stride : 0;
    Count left = 0, right = 0;
    for (int64 j = chunk[1] + threadIdx.x; j < chunk[2]; j += blockDim.x) {
        bool goes_right = margin_of(planes, q, columns, stride, j) > 0.0f;
        if (is_missing && is_missing[j]) goes_right = side > 0;
        Count weight = weights ? (Count)weights[j] : (Count)1;
        if (goes_right) right += weight;
        else left += weight;
    }
    for (int step = 16; step > 0; step /= 2) {
        left += __shfl_down_sync(0xffffffff, left, step);
        right += __shfl_down_sync(0xffffffff, right, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(own, left);
        atomicAdd(own + 1, right);
    }
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(counts + ((int64)q * n_classes + chunk[0]) * 2 + threadIdx.x, own[threadIdx.x]);
}

// Which examples are near a plane: their margins have this size at most.
__global__ void find_near(const float* columns, int64 stride, int64 start, int64 size,
                          const int64* planes_starts, const int* planes_attributes, const float* planes_coefficients,
                          const float* planes_constants, float width,
                          bool* out) {
    Planes planes = {planes_starts, planes_attributes, planes_coefficients, planes_constants};
    for (int64 j = blockIdx.x * (int64)blockDim.x + threadIdx.x; j < size; j += (int64)gridDim.x * blockDim.x)
        out[j] = fabsf(margin_of(planes, 0, columns, stride, start + j)) <= width;
}

// Bring rows of the user's array to search space: see `gather_columns` in kernels/histograms.py.
template <typename T>
__global__ void gather_columns(const T* values, int64 row_step, int64 column_step, const double* fill,
                               const int* rows, int64 size, int n_features, const double* halves,
                               const double* factors, float* out) {
    Table<T> table = {values, row_step, column_step, fill};
    for (int64 j = blockIdx.x * (int64)blockDim.x + threadIdx.x; j < size; j += (int64)gridDim.x * blockDim.x) {
        const T* row = table.values + rows[j] * table.row_step;
        for (int m = 0; m < n_features; m++) {
            double x = (double)row[m * table.column_step];
            if (isnan(x)) x = table.fill[m];
            out[m * size + j] = (float)((0.5 * x - halves[m]) * factors[m]);
        }
    }
}

// The linear combination of a test for one row: see `project` in kernels/split.py.
template <typename T>
__device__ inline double project(const Table<T>& table, int64 row, const int* features, const double* coefficients,
                                 int64 first, int64 last, int missing) {
    const T* values = table.values + row * table.row_step;
    double value = 0.0;
    for (int64 i = first; i < last; i++) {
        double x = (double)values[features[i] * table.column_step];
        if (isnan(x)) {
            if (missing != 0) return missing > 0 ? 1.0 / 0.0 : -1.0 / 0.0;
            x = table.fill[features[i]];
        }
        value = value + coefficients[i] * x;
    }
    return value;
}

template <typename T>
__global__ void project_rows(const T* values, int64 row_step, int64 column_step, const double* fill,
                             const int* rows, int64 size, const int* features,
                             const double* coefficients, int n_terms, int missing, double* out) {
    Table<T> table = {values, row_step, column_step, fill};
    for (int64 j = blockIdx.x * (int64)blockDim.x + threadIdx.x; j < size; j += (int64)gridDim.x * blockDim.x)
        out[j] = project(table, rows[j], features, coefficients, 0, n_terms, missing);
}

// The leaf in which each row of a table ends; a left child is the next node.
template <typename T>
__global__ void find_leaves(const T* values, int64 row_step, int64 column_step, const double* fill,
                            int64 size, const int* right, const int64* terms, const int* features,
                            const double* coefficients, const double* thresholds, const signed char* missing,
                            int64* out) {
    Table<T> table = {values, row_step, column_step, fill};
    for (int64 j = blockIdx.x * (int64)blockDim.x + threadIdx.x; j < size; j += (int64)gridDim.x * blockDim.x) {
        int node = 0;
        while (right[node] >= 0) {
            double value = project(table, j, features, coefficients, terms[node], terms[node + 1], missing[node]);
            node = value > thresholds[node] ? right[node] : node + 1;
        }
        out[j] = node;
    }
}
