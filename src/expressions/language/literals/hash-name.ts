import { ArgumentError } from '../function-declaration.ts'

const algorithms = ['sha256', 'sha384', 'sha512', 'sha1', 'md5']

/** As Node names it. */
export function hashName(algorithm: string): string {
  const name = algorithm.toLowerCase().replace('-', '')
  if (!algorithms.includes(name))
    throw new ArgumentError(
      'algorithm',
      `must be one of ${algorithms.join(', ')}; got ${JSON.stringify(algorithm.slice(0, 30))}`,
    )
  return name
}
