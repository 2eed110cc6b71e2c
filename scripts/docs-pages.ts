import type { BlockDescription } from '../src/blocks/describe-block.ts'
import { describeBlock } from '../src/blocks/describe-block.ts'
import { findBlocks } from '../src/blocks/load-blocks.ts'
import type { InPin, OutPin } from '../src/blocks/pin.ts'
import type { Setting } from '../src/blocks/setting.ts'
import { optionTable } from '../src/options.ts'
import { errorTable } from '../src/shared/errors.ts'

const generated = '<!-- Made by npm run docs from the definitions. Do not edit. -->\n'

const groups: Readonly<Record<string, string>> = {
  http: 'APIs and HTTP',
  storage: 'Storage and queries',
  logic: 'Data and logic',
  background: 'Background and scheduling',
}

/** Every block with its pins and settings, by group. */
export async function blocksPage(): Promise<string> {
  const found = await findBlocks()
  const blocks = found.map(({ definition, group }) => describeBlock(definition, group))
  const names = [...new Set(blocks.map((block) => block.group))]
  const sections = names.map((group) => {
    const members = blocks.filter((block) => block.group === group)
    return `## ${groups[group] ?? group}\n\n${members.map(blockSection).join('\n')}`
  })
  const intro = `# Blocks\n\n${generated}\n${blocks.length} blocks. A pull block has no flow pins: it is evaluated when somebody needs what it gives.\n`
  return `${intro}\n${sections.join('\n')}`
}

function blockSection(block: BlockDescription): string {
  const kind = { value: 'pull', flow: 'flow', trigger: 'trigger' }[block.kind]
  const also =
    block.aliases.length > 0
      ? `; also accepted: ${block.aliases.map((name) => `\`${name}\``).join(', ')}`
      : ''
  const parts = [
    `### ${block.title}\n\n\`${block.identifier}\` · ${kind}${also}\n\n${block.summary}\n`,
    table('In', ['Pin', 'Type', 'Meaning'], Object.entries(block.in).map(inRow)),
    block.more_in ? 'Its settings add in-pins.\n' : '',
    table('Out', ['Pin', 'Type', 'Meaning'], Object.entries(block.out).map(outRow)),
    block.more_out ? 'Its settings add out-pins.\n' : '',
    table('Settings', ['Setting', 'Kind', 'Meaning'], Object.entries(block.settings).map(settingRow)),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function inRow([id, pin]: [string, InPin]): string[] {
  const facts = [
    pin.type,
    pin.required ? 'needed' : '',
    pin.several ? 'several' : '',
    pin.default === undefined ? '' : `= ${JSON.stringify(pin.default)}`,
  ]
  return [`\`${id}\``, facts.filter((fact) => fact !== '').join(', '), pin.help]
}

function outRow([id, pin]: [string, OutPin]): string[] {
  return [`\`${id}\``, pin.carries ? `${pin.type}, ${pin.carries}` : pin.type, pin.help]
}

function settingRow([name, setting]: [string, Setting]): string[] {
  const options = setting.kind === 'choice' ? `: ${setting.options.join(', ')}` : ''
  const standard =
    'default' in setting && setting.default !== undefined && setting.default !== ''
      ? `, = ${setting.default}`
      : ''
  return [
    `\`${name}\``,
    `${setting.kind}${options}${setting.required ? ', needed' : ''}${standard}`,
    setting.help,
  ]
}

/** Every error code, once. */
export function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([code, { status, summary }]) => [
    `\`${code}\``,
    String(status),
    summary,
  ])
  const intro = `# Errors\n\n${generated}\nManagement endpoints reply \`{ error, code, message }\`, custom endpoints \`{ error }\` with the message. A code is never\nused again for something else.\n`
  return `${intro}\n${table('', ['Code', 'Status', 'Meaning'], rows)}`
}

/** Every setting, as \`quoin start --help\` lists them. */
export function settingsPage(): string {
  const rows = Object.values(optionTable).map(({ variable, fallback, accepts, help }) => [
    `\`${variable}\``,
    fallback === '' ? 'empty' : `\`${fallback}\``,
    `${help} Accepts ${accepts}.`,
  ])
  return `# Settings\n\n${generated}\nAll from the environment. A value that is not accepted stops the start with one line.\n\n${table('', ['Variable', 'Default', 'Meaning'], rows)}`
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  const name = title === '' ? '' : `**${title}**\n\n`
  return `${name}${line(head)}\n${line(head.map(() => '---'))}\n${rows.map(line).join('\n')}\n`
}
