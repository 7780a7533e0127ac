// What the host and the GPU share must compile for the GPU: NVRTC takes the step, and each shared header by itself,
// without a warning. NVRTC is opened at run time, so that building and testing need neither it nor a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "paths.h"

namespace warptape {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = kSourceDir;
constexpr const char* kArchitectures[] = {"sm_80", "sm_90a"};

/// Every header that a kernel may include, as it is named in an include. make_params.h is the host's alone.
std::vector<std::string> shared_headers() {
  std::vector<std::string> headers = {"core/hd.h", "core/philox.h", "net/curiosity.h", "net/dueling.h", "net/layer.h"};
  for (const char* folder : {"env", "learn", "replay"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(kSource / "src" / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" || path.filename() == "make_params.h") continue;
      headers.push_back(fs::relative(path, kSource / "src").generic_string());
    }
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

/// Every function of the shared text that a collector's or a learner's kernel calls, under both rule sets.
constexpr const char* kKernel = R"(
#include "env/step.h"
#include "learn/adam.h"
#include "learn/huber.h"
#include "learn/schedule.h"
#include "learn/td.h"
#include "net/curiosity.h"
#include "net/dueling.h"
#include "replay/experience.h"
#include "replay/ring.h"

using namespace warptape;

template <Rules R>
__device__ void play(const EnvParams& params, Slot<Money<R>>& slot, const StepPrices& px, float error,
                     Experience* rows, u64 seed) {
  using T = Money<R>;
  if (slot.episode == 0) begin_episode<R>(params, slot, px.close);
  Experience e{};
  e.bar = slot.bar;
  const Observation now = observe<R>(params, slot.portfolio, static_cast<T>(px.close));
  const int action = explore<R>(slot, seed, threadIdx.x, blockIdx.x, 0.1, params.actions.count, 0);
  const StepResult<T> result = step<R>(params, slot, action, px);
  const Observation next = observe<R>(params, slot.portfolio, result.next_price);
  for (int i = 0; i < kPortfolioNumbers; ++i) {
    e.now[i] = now.number[i];
    e.next[i] = next.number[i];
  }
  const T curiosity = curiosity_term<T>(params, error);
  e.reward = static_cast<float>(total_reward(result.reward, result.ruin, curiosity));
  e.action_flags = pack_action(action, result.terminal, result.truncated);
  rows[threadIdx.x] = e;
  if (result.truncated) chain_episode<R>(params, slot, px.next_close);
}

extern "C" __global__ void play_market(const EnvParams* params, Slot<double>* slots, StepPrices px, float error,
                                       Experience* rows, u64 seed) {
  play<kMarketRules>(*params, slots[threadIdx.x], px, error, rows, seed);
}

extern "C" __global__ void play_classic(const EnvParams* params, Slot<float>* slots, StepPrices px, float error,
                                        Experience* rows, u64 seed) {
  play<kClassicRules>(*params, slots[threadIdx.x], px, error, rows, seed);
}

extern "C" __global__ void learn(Ring ring, const Experience* rows, DuelingShape dueling, CuriosityShape curiosity,
                                 const float* advantage, AdamStep adam, float* weights, float* moments, float* q,
                                 u64 seed) {
  Ring grown = make_ring(ring.slots, ring.capacity);
  advance(grown, 1);
  const i64 row = uniform_row(grown, seed, threadIdx.x, 0, Draw::kReplay) + insert_row(ring, 0, 0);
  const Experience& e = rows[row];
  combine_all(q[0], advantage, dueling.actions, q);
  const bool terminal = is_terminal(e) && !is_truncated(e);
  const float target = td_target(e.reward, 0.99f, q[argmax(q, dueling.actions)], terminal);
  const float error = leaky_relu(q[action_of(e)] - target) * leaky_relu_derivative(target);
  const i64 at = dueling_layer(dueling, kAdvantageOut).weight + dueling_parameters(dueling) +
                 curiosity_layer(curiosity, kCuriosityFc2).bias + curiosity_parameters(curiosity);
  q[1] = huber_loss(error, 1.0f) + static_cast<float>(linear_schedule(1.0, 0.0, 3.0, 10.0));
  adam_update(adam, huber_slope(error, 1.0f), weights[at], moments[0], moments[1]);
  weights[at] = polyak(weights[at], q[0], 0.005f);
}
)";

/// The few entry points of NVRTC that a compilation takes, declared here as its documentation does.
class Nvrtc {
 public:
  struct Outcome {
    bool compiled = false;
    std::string log;
    std::size_t cubin_bytes = 0;
  };

  /// NVRTC looks for its second library by name alone, and a wheel's folder is on no search path: it is opened first.
  static void open_builtins_beside(const std::filesystem::path& library) {
    if (!library.has_parent_path()) return;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(library.parent_path(), error)) {
      if (entry.path().filename().string().rfind("libnvrtc-builtins.so", 0) != 0) continue;
      ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }

  /// The newest NVRTC to be found, null without one; `tried` says where was looked.
  static std::unique_ptr<Nvrtc> open(std::string& tried) {
    for (const std::string& name : places()) {
      tried += " " + name;
      open_builtins_beside(name);
      void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) continue;
      std::unique_ptr<Nvrtc> nvrtc(new Nvrtc(library));
      if (nvrtc->resolve() && nvrtc->major() >= kFirstWithCpp20) return nvrtc;
    }
    return nullptr;
  }

  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;
  ~Nvrtc() = default;  // never closed: NVRTC keeps threads and atexit handlers

  Outcome compile(const std::string& source, const std::string& architecture) const {
    const std::string arch = "--gpu-architecture=" + architecture;
    const std::string include = "-I" + (kSource / "src").string();
    const char* options[] = {arch.c_str(), "-std=c++20", "--fmad=false", include.c_str()};
    Program program = nullptr;
    Outcome outcome;
    outcome.log = error_string_(create_(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr));
    if (program == nullptr) return outcome;
    const int status = compile_(program, static_cast<int>(std::size(options)), options);
    outcome.compiled = status == 0;
    outcome.log = log_of(program);
    if (outcome.compiled) cubin_size_(program, &outcome.cubin_bytes);
    if (!outcome.compiled && outcome.log.empty()) outcome.log = error_string_(status);
    destroy_(&program);
    return outcome;
  }

 private:
  using Program = void*;
  static constexpr int kFirstWithCpp20 = 12;

  explicit Nvrtc(void* library) : library_(library) {}

  static void add_matches(const fs::path& folder, const std::regex& name, std::vector<std::string>& places) {
    std::error_code none;
    for (fs::recursive_directory_iterator it(folder, none), end; !none && it != end; it.increment(none)) {
      if (std::regex_match(it->path().filename().string(), name)) places.push_back(it->path().string());
    }
  }

  static std::vector<std::string> places() {
    std::vector<std::string> places;
    if (const char* named = std::getenv("WARPTAPE_NVRTC")) places.emplace_back(named);
    for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) places.emplace_back(soname);
    const std::regex library("libnvrtc\\.so(\\.[0-9]+)*");
    std::error_code none;
    for (fs::directory_iterator it("/usr/local", none), end; !none && it != end; it.increment(none)) {
      if (it->path().filename().string().rfind("cuda", 0) != 0) continue;
      add_matches(it->path() / "lib64", library, places);
      add_matches(it->path() / "targets/x86_64-linux/lib", library, places);
    }
    add_matches(kSource / "build/nvrtc", library, places);  // as Python's wheels lay it out
    return places;
  }

  template <typename Function>
  bool resolve(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr;
  }
  bool resolve() {
    return resolve(version_, "nvrtcVersion") && resolve(create_, "nvrtcCreateProgram") &&
           resolve(compile_, "nvrtcCompileProgram") && resolve(log_size_, "nvrtcGetProgramLogSize") &&
           resolve(log_, "nvrtcGetProgramLog") && resolve(cubin_size_, "nvrtcGetCUBINSize") &&
           resolve(destroy_, "nvrtcDestroyProgram") && resolve(error_string_, "nvrtcGetErrorString");
  }

  int major() const {
    int major = 0, minor = 0;
    version_(&major, &minor);
    return major;
  }

  std::string log_of(Program program) const {
    std::size_t size = 0;
    log_size_(program, &size);
    std::string log(size, '\0');
    log_(program, log.data());
    log.resize(std::min(log.find('\0'), log.size()));
    return log;
  }

  void* library_;
  int (*version_)(int*, int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, std::size_t*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  const char* (*error_string_)(int) = nullptr;
};

class DeviceCompile : public testing::Test {
 protected:
  void SetUp() override {
    std::string tried;
    nvrtc_ = Nvrtc::open(tried);
    if (!nvrtc_) GTEST_SKIP() << "no NVRTC of CUDA 12 or newer; set WARPTAPE_NVRTC to its file. Tried:" << tried;
  }

  /// Expects a cubin and nothing in the log: a warning is a failure here as it is for the host.
  void expect_clean(const std::string& source) {
    for (const char* architecture : kArchitectures) {
      const Nvrtc::Outcome outcome = nvrtc_->compile(source, architecture);
      EXPECT_TRUE(outcome.compiled) << architecture << "\n" << outcome.log;
      EXPECT_EQ(outcome.log, "") << architecture;
      EXPECT_GT(outcome.cubin_bytes, 0u) << architecture;
    }
  }

  std::unique_ptr<Nvrtc> nvrtc_;
};

TEST_F(DeviceCompile, TheStepAndTheLearnersArithmeticUnderBothRules) {
  expect_clean(kKernel);
}

TEST_F(DeviceCompile, EverySharedHeaderByItself) {
  for (const std::string& header : shared_headers()) {
    SCOPED_TRACE(header);
    expect_clean("#include \"" + header + "\"\n");
  }
}

TEST_F(DeviceCompile, ABrokenSourceIsRefusedAndAWarningIsSeen) {
  EXPECT_FALSE(nvrtc_->compile("#include \"env/step.h\"\nwarptape::Nothing x;\n", "sm_80").compiled);
  const Nvrtc::Outcome warned = nvrtc_->compile("__global__ void k() { int unused; }\n", "sm_80");
  EXPECT_TRUE(warned.compiled);
  EXPECT_NE(warned.log, "");
}

std::vector<std::string> includes_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> includes;
  const std::regex include(R"(^\s*#\s*include\s*([<"].*[>"]).*)");
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, include)) includes.push_back(match[1]);
  }
  return includes;
}

TEST(SharedHeaders, IncludeNoLibraryHeader) {
  ASSERT_GE(shared_headers().size(), 15u);
  for (const std::string& header : shared_headers()) {
    for (const std::string& include : includes_of(kSource / "src" / header)) {
      EXPECT_EQ(include.front(), '"') << header << " includes " << include;
    }
  }
}

// Only hd.h may tell compilers apart; the step must not know which backend runs it.
TEST(SharedHeaders, NameNoBackend) {
  const std::regex backend("cuda|nvrtc|cpu|backend|__CUDA|thread", std::regex::icase);
  const std::regex comment("//.*");
  for (const std::string& header : shared_headers()) {
    for (const std::string& include : includes_of(kSource / "src" / header)) {
      EXPECT_FALSE(std::regex_search(include, backend)) << header << " includes " << include;
    }
    if (header == "core/hd.h") continue;
    std::ifstream in(kSource / "src" / header);
    for (std::string line; std::getline(in, line);) {
      EXPECT_FALSE(std::regex_search(std::regex_replace(line, comment, ""), backend)) << header << ": " << line;
    }
  }
}

}  // namespace
}  // namespace warptape
