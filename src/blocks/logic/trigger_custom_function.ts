import type { CustomOutPin } from '../../shared/blueprint.ts'
import { canConvert } from '../../shared/pin-type.ts'
import { defineTrigger, PinError } from '../block.ts'
import { functionName, toolName } from '../names.ts'
import type { OutPins } from '../pin.ts'

const PARAMETER = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const MAX_PARAMETERS = 50

export default defineTrigger({
  identifier: 'trigger_custom_function',
  title: 'Custom function',
  words: 'Function {name}',
  summary:
    'Defines a function with a name, which other flows can call and queues can run. Its added out-pins are its parameters.',
  on: 'function',
  in: {},
  out: {},
  settings: {
    name: { kind: 'text', required: true, help: 'Name of the function.' },
    description: {
      kind: 'text',
      default: '',
      help: 'What the function does and when to call it, for models and agents that have it as a tool.',
    },
    tool: {
      kind: 'text',
      default: '',
      help: 'Offers the function to agents: its name among the tools of /mcp, such as find_order. The scopes of the block say who may call it; *loggedin: every API key. Empty: no tool.',
    },
  },
  moreOut: (_settings, custom): OutPins =>
    Object.fromEntries(custom.map(({ id, type }) => [id, { type, help: `The parameter ${id}.` }])),
  listen(_inputs, settings, custom) {
    const name = functionName('name', settings.name)
    checkParameters(custom)
    const tool = toolName(settings.tool)
    return {
      name,
      description: settings.description,
      parameters: custom,
      ...(tool !== undefined && { tool }),
    }
  },
  start: ({ parameters }) => parameters,
})

function checkParameters(custom: readonly CustomOutPin[]): void {
  const refuse = (message: string) => new PinError('custom_out_pins', message)
  if (custom.length > MAX_PARAMETERS) throw refuse(`must be at most ${MAX_PARAMETERS}`)
  const seen = new Set<string>(['flow'])
  for (const { id, type } of custom) {
    const called = JSON.stringify(id)
    if (!PARAMETER.test(id))
      throw refuse(`has the name ${called}: letters, digits and _, starting with a letter`)
    if (seen.has(id)) throw refuse(`has the name ${called} twice, or it is taken`)
    // Parameters travel as JSON, also through the queue: what exists only inside a run cannot be one.
    if (!canConvert('any', type)) throw refuse(`has ${called} of the type ${type}, which cannot be passed`)
    seen.add(id)
  }
}
