const exact = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'x-authtoken',
  'x-token',
  'pwd',
  'credentials',
  'pin',
  'cvc',
  'cvv',
])
const within =
  /passw|kennwort|secret|token|signature|credit[-_ ]?card|card[-_ ]?number|api[-_]?key|private[-_]?key/i

/** How many tokens a model has read or written, or may: counts of text, which traces show. */
const counts = new Set([
  ...['max_tokens', 'max_completion_tokens', 'tokens_in', 'tokens_out', 'tokens_per_run', 'tokens_per_day'],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens'],
])

/** Whether what stands under this name (of a header, a field, a parameter) must be in no log and in no trace. */
export function isSecretName(name: string): boolean {
  if (counts.has(name)) return false
  return exact.has(name.toLowerCase()) || within.test(name)
}
