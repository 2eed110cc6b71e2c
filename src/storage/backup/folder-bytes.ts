import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Bytes of a file or of all files below a folder; 0 where there is none. What vanishes meanwhile is not counted. */
export async function folderBytes(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) return found?.size ?? 0
  let sum = 0
  for (const name of await readdir(path).catch(() => [])) sum += await folderBytes(join(path, name))
  return sum
}
