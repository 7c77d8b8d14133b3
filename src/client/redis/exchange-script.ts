/**
 * One atomic step in Redis: compare the version, and write. Redis's own clock decides what time it is.
 * KEYS[1] the state; ARGV: the version the caller knows and, to write, its new version, state, time and how long to keep.
 */
export const EXCHANGE_SCRIPT = `
local held = redis.call('HMGET', KEYS[1], 'version', 'state')
local version, state = held[1] or '', held[2] or ''
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local isKnown = version == ARGV[1]
if ARGV[2] and isKnown and math.abs(now - ARGV[4]) <= 1000 then
  redis.call('HSET', KEYS[1], 'version', ARGV[2], 'state', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  return {'1', ARGV[2], '', string.format('%.0f', now)}
end
return {'0', version, isKnown and '' or state, string.format('%.0f', now)}
`;
