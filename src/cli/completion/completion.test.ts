/** The script of bash is run in bash, as a terminal does; those of zsh and fish where these shells are installed. */
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import { commands } from '../commands.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await writeFile(join(folder, 'tasks file.json'), '')
  await mkdir(join(folder, 'a folder'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const script = async (shell: string) => (await quoinCommand(['completion', shell])).printed

/** What bash offers when Tab is pressed behind these words. */
async function offered(words: readonly string[]): Promise<string[]> {
  const drive = `${await script('bash')}
complete -p quoin >/dev/null || exit 9
COMP_WORDS=( quoin "$@" ) COMP_CWORD=$# COMPREPLY=()
_quoin
printf '%s\\n' "\${COMPREPLY[@]}"`
  // Without --norc bash reads the system's settings when its standard input is a socket, which is how it knows rsh.
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-uc', drive, 'bash', ...words], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((line) => line !== '')
}

const firstWords = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]

test.each([
  { words: [''], offers: [...firstWords, 'help', '--version'] },
  { words: ['st'], offers: ['start', 'storage'] },
  { words: ['l'], offers: ['login', 'logout'] },
  { words: ['--'], offers: ['--version'] },
  { words: ['help', ''], offers: firstWords },
  { words: ['user', ''], offers: ['create', 'import', 'reset-password', 'reset-second-factor', 'who-may'] },
  { words: ['user', 'cr'], offers: ['create'] },
  { words: ['user', 'create', 'ann', '--p'], offers: ['--password-stdin'] },
  {
    words: ['user', 'create', 'ann', '--'],
    offers: ['--scopes', '--service', '--password-stdin', '--url', '--help'],
  },
  { words: ['user', 'create', 'ann', '--scopes', ''], offers: [] },
  { words: ['import', ''], offers: ['tasks file.json', 'a folder'] },
  { words: ['import', '--'], offers: ['--activate', '--replace', '--another', '--url', '--help'] },
  { words: ['import', '--activate', 'ta'], offers: ['tasks file.json'] },
  { words: ['restore', ''], offers: ['a folder'] },
  { words: ['migrate', '--from', ''], offers: ['a folder'] },
  { words: ['migrate', '--to', ''], offers: [] },
  { words: ['completion', ''], offers: ['bash', 'zsh', 'fish', '--help'] },
  { words: ['start', '--'], offers: ['--example', '--help'] },
  { words: ['unknown', ''], offers: [] },
])('bash completes quoin $words', async ({ words, offers }) => {
  expect((await offered(words)).toSorted()).toEqual([...offers].toSorted())
})

test.each(['bash', 'zsh', 'fish'])('the script of %s names every command and flag', async (shell) => {
  const text = await script(shell)
  for (const { name, flags } of commands) {
    expect(text).toContain(name.split(' ').at(-1))
    for (const flag of Object.keys(flags))
      expect(text).toContain(shell === 'fish' ? `-l ${flag}` : `--${flag}`)
  }
})

test.each(['bash', 'zsh', 'fish'])('%s can read its script, where it is installed', async (shell) => {
  const { error, status, stderr } = spawnSync(shell, ['-n'], { input: await script(shell), encoding: 'utf8' })
  if (shell !== 'bash' && error) return
  expect({ error, status, stderr }).toEqual({ error: undefined, status: 0, stderr: '' })
})

test('another shell is refused', async () => {
  const end = await quoinCommand(['completion', 'tcsh'])
  expect(end).toMatchObject({ code: 2, printed: '' })
  expect(end.complained).toContain('choose one of: bash, zsh, fish')
})
