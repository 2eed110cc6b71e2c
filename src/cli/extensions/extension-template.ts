import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../read-words.ts'

/** Makes the folder. UsageError for a name that cannot be, or a folder that is there. */
export async function writeTemplate(name: string, folder: string): Promise<void> {
  if (!/^[a-z][a-z0-9]{1,29}$/.test(name))
    throw new UsageError(
      `The name of an extension is 2 to 30 of a–z and 0–9, and begins with a letter: ${name}.`,
    )
  try {
    await mkdir(folder, { recursive: false })
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    throw isThere ? new UsageError(`There is something at ${folder} already.`) : error
  }
  await mkdir(join(folder, 'blocks'))
  for (const [path, text] of Object.entries(templateFiles(name))) await writeFile(join(folder, path), text)
}

function templateFiles(name: string): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(manifestOf(name), undefined, 2)}\n`,
    [`blocks/${name}_greet.js`]: blockOf(name),
    [`blocks/${name}_greet.test.json`]: TESTS,
    'README.md': readmeOf(name),
  }
}

function manifestOf(name: string) {
  return {
    name: `quoin-${name}`,
    version: '0.1.0',
    description: 'Greets.',
    type: 'module',
    quoin: { extension: name, permissions: { hosts: [], read: [], write: [] } },
  }
}

function blockOf(name: string): string {
  return `// @ts-check
import { defineFlow } from 'quoin/extension'

export default defineFlow({
  identifier: '${name}_greet',
  title: 'Greet',
  words: 'Greet {name}',
  summary: 'Makes a greeting.',
  in: { name: { type: 'value', required: true, help: 'Who is greeted.' } },
  out: {
    greeting: { type: 'value', help: 'The greeting.' },
    empty: { type: 'flow', help: 'Continues here if the name is empty.' },
  },
  settings: { word: { kind: 'text', default: 'Hello', help: 'What the greeting begins with.' } },
  async run({ name }, { settings }) {
    if (name.trim() === '') return { next: 'empty' }
    return { greeting: \`\${settings.word}, \${name.trim()}!\` }
  },
})
`
}

const TESTS = `[
  { "name": "a number is no setting", "inputs": { "name": "Ada" }, "settings": { "word": 5 }, "fails": "must be" },
  { "name": "an empty name", "inputs": { "name": " " }, "gives": { "next": "empty" } },
  { "name": "a name", "inputs": { "name": "Ada" }, "gives": { "greeting": "Hello, Ada!" } }
]
`

function readmeOf(name: string): string {
  return `# ${name}

An extension of Quoin. Its blocks:

- \`${name}_greet\` makes a greeting.

\`\`\`sh
quoin extension test .              # checks the definitions, runs the tests
QUOIN_BLOCKS=.. quoin start         # offers the extensions of the folder above
quoin extension list                # what they may do
quoin extension on ${name}
\`\`\`

What a block may do is in \`package.json\` (\`quoin.permissions\`) and in its \`effects\`. How to write one: docs/extensions.md of Quoin.
`
}
