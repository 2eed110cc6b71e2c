-- The requests of a row for wrk: raw, in a file, separated by zero bytes. `wrk … -s requests.lua URL -- FILE`
local requests, at = {}, 0

function init(arguments)
  local file = assert(io.open(arguments[1], 'rb'))
  for one in file:read('*a'):gmatch('[^%z]+') do
    requests[#requests + 1] = one
  end
  file:close()
end

function request()
  at = at % #requests + 1
  return requests[at]
end

-- One line that starts with RESULT: replies, microseconds, errors of five kinds, and the percentiles 1 to 99 in microseconds.
function done(summary, latency)
  local errors = summary.errors
  local figures = {
    summary.requests, summary.duration,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status,
  }
  for share = 1, 99 do
    figures[#figures + 1] = latency:percentile(share)
  end
  print('RESULT ' .. table.concat(figures, ' '))
end
