/**
 * A Chromium to drive: the one inside the package `@sparticuz/chromium`, so that the browser suites run on a machine where
 * no browser is installed, and with the same one everywhere; else one that is installed. That of the package has no
 * windows at all and takes a third of the processor time (looks.test.ts: 23 s, and 63 s with Debian's). Unpacking takes
 * about ten seconds and 250 MB, once: it is kept in `node_modules/.cache`, one folder for each version of the package.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** How to start a browser. The next way is tried when one does not start. */
export interface Chromium {
  readonly executablePath: string
  /** Beside the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

const installedPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const packageFolder = join(modules, '@sparticuz', 'chromium')

/** The ways to start a browser here, best first. */
export async function findChromium(): Promise<readonly Chromium[]> {
  const executablePath = installedPaths.find((path) => existsSync(path))
  if (executablePath === undefined) return unpackedChromium()
  // There is none in the package for every system.
  const unpacked = await unpackedChromium().catch(() => [])
  return [...unpacked, { executablePath, env: {} }]
}

/**
 * The browser of the package. It needs libnss3, libnspr4 and libexpat: a machine that has them uses its own, any other
 * the copies that the package brings along.
 */
export async function unpackedChromium(): Promise<readonly Chromium[]> {
  const folder = await unpackedFolder()
  const executablePath = join(folder, 'chromium')
  const fonts = { FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  return [
    { executablePath, env: fonts },
    { executablePath, env: { ...fonts, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') } },
  ]
}

async function unpackedFolder(): Promise<string> {
  const { version }: { version: string } = JSON.parse(
    await readFile(join(packageFolder, 'package.json'), 'utf8'),
  )
  const cache = join(modules, '.cache')
  const folder = join(cache, `quoin-chromium-${version}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  // Several test processes may do this at once: each unpacks for itself, and the first one done counts.
  const scratch = await mkdtemp(`${folder}-`)
  try {
    await unpackInto(scratch)
    await writeFile(join(scratch, 'fonts.conf'), fontSettings(folder))
    await rename(scratch, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  return folder
}

/** The package unpacks into the temporary folder of its process, whatever that is, so it gets a process of its own. */
async function unpackInto(folder: string): Promise<void> {
  const bin = join(packageFolder, 'bin')
  const archives = ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br']
  const program = `import { inflate } from '@sparticuz/chromium'
    await Promise.all(${JSON.stringify(archives.map((name) => join(bin, name)))}.map((file) => inflate(file)))`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: modules,
    env: { ...process.env, TMPDIR: folder },
  })
}

/**
 * The package's font is found wherever it was unpacked (its own settings look in the folders of a cloud function only).
 * Where no font is found at all, this Chromium crashes on the first page with an input.
 */
function fontSettings(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
  <alias binding="strong"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
  <alias binding="strong"><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`
}
