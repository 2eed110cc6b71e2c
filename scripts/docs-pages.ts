import { type FoundExample, findExamples } from '../src/blocks/block-example.ts'
import { describeBlock } from '../src/blocks/describe-block.ts'
import { findBlocks } from '../src/blocks/load-blocks.ts'
import type { Option } from '../src/options/option-kinds.ts'
import { optionTable } from '../src/options/options.ts'
import type { BlockDescription, InPin, OutPin, Setting } from '../src/shared/api/blocks/blocks.ts'
import { errorTable } from '../src/shared/errors.ts'
import { exampleSection } from './example-section.ts'
import { prose, table } from './markdown.ts'

const generated = '<!-- Made by npm run docs from the definitions. Do not edit. -->\n'

const groups: Readonly<Record<string, string>> = {
  http: 'APIs and HTTP',
  storage: 'Storage and queries',
  logic: 'Data and logic',
  background: 'Background and scheduling',
  pages: 'Pages',
  files: 'Files',
  live: 'Live',
  mail: 'Mail',
  people: 'People',
}

/** Every block with its pins and settings, by group. */
export async function blocksPage(): Promise<string> {
  const found = await findBlocks()
  const blocks = found.map(({ definition, group }) => describeBlock(definition, group))
  const examples = new Map((await findExamples()).map((example) => [example.identifier, example]))
  const names = [...new Set(blocks.map((block) => block.group))]
  const sections = names.map((group) => {
    const members = blocks.filter((block) => block.group === group)
    const parts = members.map((block) => blockSection(block, examples.get(block.identifier)))
    return `## ${groups[group] ?? group}\n\n${parts.join('\n')}`
  })
  const intro = `# Blocks\n\n${generated}\n${blocks.length} blocks. A pull block has no flow pins: it is evaluated when another block needs its value. Each block has an\nexample: the \`blueprint\` in its file can be imported unchanged (\`quoin import\`), and the tests send its requests. Angle\nbrackets mark values known only at run time; the same name after the colon means the same value. Most examples are public so\nthat you can try them right away. In production give endpoints that write the scope \`*loggedin\` or a custom one.\n`
  return `${intro}\n${sections.join('\n')}`
}

function blockSection(block: BlockDescription, example: FoundExample | undefined): string {
  const kind = { value: 'pull', flow: 'flow', trigger: 'trigger' }[block.kind]
  const also =
    block.aliases.length > 0
      ? `; also accepted: ${block.aliases.map((name) => `\`${name}\``).join(', ')}`
      : ''
  const parts = [
    `### ${block.title}\n\n\`${block.identifier}\` · ${kind}${also}\n\n${prose(block.summary)}\n`,
    table('In', ['Pin', 'Type', 'Meaning'], Object.entries(block.in).map(inRow)),
    block.more_in ? 'Its settings add in-pins.\n' : '',
    table('Out', ['Pin', 'Type', 'Meaning'], Object.entries(block.out).map(outRow)),
    block.more_out ? 'Its settings add out-pins.\n' : '',
    table('Settings', ['Setting', 'Kind', 'Meaning'], Object.entries(block.settings).map(settingRow)),
    example === undefined ? '' : exampleSection(example),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function inRow([id, pin]: [string, InPin]): string[] {
  const facts = [
    pin.language === 'where' ? 'expression' : pin.type,
    pin.required ? 'required' : '',
    pin.several ? 'several' : '',
    pin.default === undefined ? '' : `= ${JSON.stringify(pin.default)}`,
  ]
  return [`\`${id}\``, facts.filter((fact) => fact !== '').join(', '), prose(pin.help)]
}

function outRow([id, pin]: [string, OutPin]): string[] {
  return [`\`${id}\``, pin.carries ? `${pin.type}, ${pin.carries}` : pin.type, prose(pin.help)]
}

function settingRow([name, setting]: [string, Setting]): string[] {
  const options = setting.kind === 'choice' ? `: ${setting.options?.join(', ')}` : ''
  const standard =
    'default' in setting && setting.default !== undefined && setting.default !== ''
      ? `, = ${setting.default}`
      : ''
  return [
    `\`${name}\``,
    `${setting.kind}${options}${setting.required ? ', required' : ''}${standard}`,
    prose(setting.help),
  ]
}

/** Every error code, once. */
export function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([code, { status, summary }]) => [
    `\`${code}\``,
    String(status),
    prose(summary),
  ])
  const intro = `# Errors\n\n${generated}\nManagement endpoints reply \`{ error, code, message }\`, custom endpoints \`{ error }\` with the message. Both add\n\`fields\` where fields of the body or parameters of path and query are at fault: a list, and an object with what is wrong\nwith each. A code is never reused.\n`
  return `${intro}\n${table('', ['Code', 'Status', 'Meaning'], rows)}`
}

/** Every setting, as \`quoin start --help\` lists them. */
export function settingsPage(): string {
  const rows = Object.values<Option<unknown>>(optionTable).map(
    ({ variable, fallback, accepts, help, changeable }) => [
      `\`${variable}\``,
      fallback === '' ? 'empty' : `\`${fallback}\``,
      changeable ? 'at once' : 'at the start',
      prose(`${help} Accepts ${accepts}.`),
    ],
  )
  return `# Settings\n\n${generated}\nSettings are environment variables. An invalid value stops the start with one line. Those that count at once can also be set while Quoin runs\n([operations](operations.md#settings-that-change-while-it-runs)).\n\n${table('', ['Variable', 'Default', 'Counts', 'Meaning'], rows)}`
}
