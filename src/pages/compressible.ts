import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Bytes that are sent many times, plain or compressed. Compressed in a thread, when that is first asked for. */
export interface Compressible {
  readonly body: Buffer
  readonly br: () => Promise<Buffer>
  readonly gzip: () => Promise<Buffer>
}

/**
 * @param quality of brotli, 0 to 11: 11 takes 1 s a megabyte and is for what changes with the program; 5 takes 20 ms and is
 *   for what changes with a deploy
 */
export function compressible(text: string, quality: number): Compressible {
  const body = Buffer.from(text)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  }
  return {
    body,
    br: once(() => promisify(brotliCompress)(body, { params })),
    gzip: once(() => promisify(gzip)(body, { level: Math.min(9, quality) })),
  }
}

/** Does the work at the first call, and gives the same promise at each. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= work()
    return done
  }
}
