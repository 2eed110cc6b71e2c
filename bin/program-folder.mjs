import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The bundle of a published package, which has no lock file and no sources that could be edited. */
export const packedFolder = join(root, 'dist', 'packed')

/**
 * Where the bundle of exactly these sources is, or would be. A folder for each digest: what was edited has none until it
 * is built, so that an old bundle cannot be taken for it. Reading all of them takes 30 ms; times of files would be quicker
 * to ask for, but containers and archives round them.
 */
export function programFolder() {
  if (!existsSync(join(root, 'package-lock.json'))) return packedFolder
  const hash = createHash('sha256')
  for (const path of [...sources(), 'package-lock.json', 'scripts/build-program.mjs'])
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return join(root, 'dist', 'program', hash.digest('hex').slice(0, 16))
}

/** What a bundle is made of. The studio has a build of its own; styles, scripts of pages and SQL are read as files. */
function sources() {
  return readdirSync(join(root, 'src'), { recursive: true })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter(
      (path) =>
        /\.(ts|json)$/.test(path) &&
        !/\.(test\.ts|example\.json)$/.test(path) &&
        !path.startsWith('src/studio/'),
    )
    .sort()
}
