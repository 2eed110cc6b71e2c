import { readFile } from 'node:fs/promises'

/** Of this Quoin. */
export async function programVersion(): Promise<string> {
  const json: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  return typeof json === 'object' && json !== null && 'version' in json ? String(json.version) : ''
}
