/**
 * Long replies as bytes with their tag, made in turns: 20 MB take 20 to 40 ms to write as bytes and 20 to hash, in one turn if it were done at once.
 */
import { createHash } from 'node:crypto'
import { runCooperatively, type Steps } from '../../shared/cooperative.ts'

/** Characters from which on a reply is long: what is shorter takes 2 ms. */
export const LONG = 1_000_000
/** Characters between two looks at the time: 0.5 ms. */
const PIECE = 250_000

export interface LongReply {
  readonly bytes: Buffer
  /** As `entityTag` has it. */
  readonly tag: string
}

export function longReply(text: string): Promise<LongReply> {
  return runCooperatively(inPieces(text))
}

function* inPieces(text: string): Steps<LongReply> {
  const hash = createHash('sha1')
  const pieces: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE
    // Not through a character of two units.
    if (isFirstOfTwo(text.charCodeAt(end - 1))) end += 1
    const bytes = Buffer.from(text.slice(at, end))
    hash.update(bytes)
    pieces.push(bytes)
    at = end
    yield undefined
  }
  return { bytes: Buffer.concat(pieces), tag: `"${hash.digest('base64url')}"` }
}

function isFirstOfTwo(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
