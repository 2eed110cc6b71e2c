import type { BlockExample, ExampleStep, FoundExample } from '../src/blocks/block-example.ts'
import { fenced, prose } from './markdown.ts'

/** What an example shows, its blocks without their places on the canvas, and what is sent and answered. */
export function exampleSection({ group, identifier, example }: FoundExample): string {
  const file = `${identifier}.example.json`
  const blocks = Object.entries(example.blueprint.blocks).map(
    ([id, block]) => `  ${JSON.stringify(id)}: ${spaced(block)}`,
  )
  return [
    `**Example** · [${file}](../src/blocks/${group}/${file})\n`,
    `${prose(example.shows)}\n`,
    ...fieldLines(example.fields),
    ...secretLines(example.secrets),
    ...connectionLines(example.connections),
    fenced('json', `{\n${blocks.join(',\n')}\n}`),
    fenced('text', example.steps.map(stepText).join('\n\n')),
  ].join('\n')
}

function stepText({ says, as, request, reply, eventually }: ExampleStep): string {
  const who = as === undefined ? '' : `   (as ${as})`
  const later = eventually ? '   (as soon as it is done)' : ''
  return [
    ...(says === undefined ? [] : [`# ${says}`]),
    `→ ${request.method} ${request.path}${who}`,
    ...messageLines(request),
    ...formLines(request.form),
    `← ${reply.status}${later}`,
    ...messageLines(reply),
    ...(reply.shows ?? []).map((text) => `  shows: ${text}`),
    ...(reply.shows_not ?? []).map((text) => `  does not show: ${text}`),
  ].join('\n')
}

function formLines(form: ExampleStep['request']['form']): string[] {
  if (!form) return []
  const values = Object.entries(form.values ?? {}).map(
    ([name, value]) => `  ${name} = ${[value].flat().join(', ')}`,
  )
  const what = form.id === undefined ? '' : ` the form ${form.id}`
  return [`  sends${what}${form.button === undefined ? '' : ` with "${form.button}"`}`, ...values]
}

function messageLines({ headers = {}, body }: ExampleStep['request'] | ExampleStep['reply']): string[] {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)
  return body === undefined ? lines : [...lines, `  ${spaced(body)}`]
}

/** JSON on one line, with the blanks that a person would put in. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** What is created before the blueprint is imported. */
function fieldLines(fields: BlockExample['fields'] = []): string[] {
  return fields.map((field) => `With the field \`${JSON.stringify(field)}\`.\n`)
}

function connectionLines(connections: BlockExample['connections'] = {}): string[] {
  return Object.entries(connections).map(
    ([name, url]) => `With the connection ${name} to \`${url}\`, where \`<address>\` is that of Quoin.\n`,
  )
}

function secretLines(secrets: BlockExample['secrets'] = {}): string[] {
  return Object.entries(secrets).map(([name, value]) => `With the secret ${name}: \`${value}\`.\n`)
}
