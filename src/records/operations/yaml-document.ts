import { DocumentProblem } from './api-document.ts'

/** Of what a document in YAML is as JSON: aliases repeat what they name. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** The document as JSON: as it is, or of one in YAML the same. What begins with a brace is JSON. Throws DocumentProblem. */
export async function jsonOf(text: string): Promise<string> {
  if (/^\ufeff?\s*\{/.test(text)) return text
  const { parse } = await import('yaml')
  let json: string | undefined
  try {
    const options = { schema: 'core', maxAliasCount: 100, prettyErrors: false, logLevel: 'error' } as const
    json = JSON.stringify(parse(text, options), null, 2)
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new DocumentProblem(`The document is neither JSON nor YAML: ${line.slice(0, 200)}`)
  }
  if (json !== undefined && json.length <= MOST_CHARACTERS) return json
  throw new DocumentProblem('The document is empty, or has more than 32 MiB as JSON.')
}
