import { QuoinError } from '../../shared/errors.ts'
import type { FlowContext } from '../context.ts'

/**
 * What gives the out-pin of this name the public address of a path, if anything reads the pin. Throws CONFLICT where one of
 * the pins is read and the public address is not set: a link without it leads nowhere in a mail.
 */
export function publicAddresses<const Pin extends string>(
  pins: readonly Pin[],
  { publicUrl, wired }: FlowContext,
) {
  const read = new Set(pins.filter((pin) => wired(pin)))
  const [first] = read
  if (first !== undefined && publicUrl === '')
    throw new QuoinError(
      'CONFLICT',
      `${first} needs the address of the site. Set QUOIN_PUBLIC_URL on every node.`,
    )
  return (pin: Pin, path: string): Partial<Record<Pin, string>> => {
    const input: Partial<Record<Pin, string>> = {}
    if (read.has(pin)) input[pin] = `${publicUrl}${path}`
    return input
  }
}
