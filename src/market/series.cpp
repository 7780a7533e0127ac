#include "market/series.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "market/csv.h"
#include "warptape/error.h"

namespace warptape {

std::vector<Bars> read_series(const std::vector<std::filesystem::path>& files, const DataConfig& options) {
  std::vector<Bars> series;
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (std::find(files.begin(), file, *file) != file) fail("{}: given twice", file->string());
    ReadReport report;
    series.push_back(read_bars(*file, options, &report));
    if (report.sorted_rows > 0) {
      fmt::print(stderr, "{}: {} rows were out of time order and were sorted\n", file->string(), report.sorted_rows);
    }
    if (report.dropped_duplicates > 0) {
      fmt::print(stderr, "{}: {} rows with a repeated time were dropped, the last of each kept\n", file->string(),
                 report.dropped_duplicates);
    }
  }
  return series;
}

}  // namespace warptape
