/** Of documents that are read at once with their words: some 10 ms. One alone may have 65,000. */
const DOCUMENTS = 100
const TOKENS = 20_000

/** Guids of documents that are read together, by how many tokens each document has. */
export function* writtenBatches(tokensOf: ReadonlyMap<string, number>): Generator<readonly string[]> {
  let batch: string[] = []
  let held = 0
  for (const [guid, tokens] of tokensOf) {
    if (batch.length >= DOCUMENTS || (batch.length > 0 && held + tokens > TOKENS)) {
      yield batch
      batch = []
      held = 0
    }
    batch.push(guid)
    held += tokens
  }
  if (batch.length > 0) yield batch
}
