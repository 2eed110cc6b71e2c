/**
 * The same pieces, the first of which is there: what goes wrong before it is thrown here, while a reply can still be an error. Behind the
 * head of a reply the connection could only be cut.
 */
export async function begun<T>(source: AsyncGenerator<T, void>): Promise<AsyncGenerator<T, void>> {
  const first = await source.next()
  return (async function* () {
    try {
      if (first.done) return
      yield first.value
      yield* source
    } finally {
      // Where the reader stops early.
      await source.return()
    }
  })()
}
