import { ArgumentError } from '../language/function-declaration.ts'
import { boundedText } from './bounded.ts'

export function urlEncoded(text: string): string {
  if (!text.isWellFormed()) throw new ArgumentError('text', 'holds half of a surrogate pair')
  return boundedText('text', encodeURIComponent(text))
}
