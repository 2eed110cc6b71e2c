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

/** Whether what stands under this name (of a header, a field, a parameter) must be in no log and in no trace. */
export function isSecretName(name: string): boolean {
  return exact.has(name.toLowerCase()) || within.test(name)
}
