/** What the thread of `operations-thread.ts` runs. Not to be imported. */
import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { ApiDocument, DocumentProblem } from './api-document.ts'
import type { ThreadAnswer } from './operations-thread.ts'
import { readOperations } from './read-operations.ts'

/** Of what a document in YAML is as JSON: aliases repeat what they name. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** The document as JSON: as it is, or of one in YAML the same. What begins with a brace is JSON. Throws DocumentProblem. */
async function jsonOf(text: string): Promise<string> {
  if (/^\ufeff?\s*\{/.test(text)) return text
  const { parse } = await import('yaml')
  let json: string | undefined
  try {
    // Of a name that comes twice the last counts, as in JSON: to refuse it the library holds each name against all others, 30 s for 50,000.
    const options = { schema: 'core', uniqueKeys: false, maxAliasCount: 100 } as const
    json = JSON.stringify(parse(text, { ...options, prettyErrors: false, logLevel: 'error' }), null, 2)
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new DocumentProblem(`The document is neither JSON nor YAML: ${line.slice(0, 200)}`)
  }
  if (json !== undefined && json.length <= MOST_CHARACTERS) return json
  throw new DocumentProblem('The document is empty, or has more than 32 MiB as JSON.')
}

/** Sent at once: the other side takes a list in one turn. */
const AT_ONCE = 100

const bytes: Uint8Array = workerData
const tell = (answer: ThreadAnswer) => parentPort?.postMessage(answer)

try {
  // A byte order mark stays in what is stored.
  const sent = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  const text = await jsonOf(sent)
  const { operations, ...about } = readOperations(new ApiDocument(text))
  for (let at = 0; at < operations.length; at += AT_ONCE)
    tell({
      operations: operations.slice(at, at + AT_ONCE).map(({ operation, group, types, sign_in }) => {
        const { id, hash, title, method, path } = operation
        const content = gzipSync(JSON.stringify({ operation, types, sign_in })).toString('base64')
        return { operation: id, hash, title, method, path, group, content }
      }),
    })
  const hash = createHash('sha256').update(text).digest('base64url')
  tell({ whole: { ...about, hash, text: gzipSync(text).toString('base64') } })
} catch (error) {
  if (error instanceof DocumentProblem) tell({ problem: error.message })
  else if (error instanceof TypeError && error.message.includes('encoded'))
    tell({ problem: 'The document is not UTF-8.' })
  else throw error
}
