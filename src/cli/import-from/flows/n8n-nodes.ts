/** The nodes of n8n that have a block here. */
import { reservedRoots } from '../../../http/server/reserved-roots.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../../storage/document-fields.ts'
import {
  comparisonOf,
  expressionOf,
  type NodeValues,
  pinOf,
  type ValueContext,
  valuesOf,
} from './n8n-values.ts'

export interface WorkflowNode {
  readonly title: string
  /** Name of its block. */
  readonly block: string
  readonly type: string
  readonly parameters: JsonObject
  readonly isDisabled: boolean
  readonly hasSecrets: boolean
  readonly position: readonly [number, number]
}

export interface MadeNode {
  /** Undefined for a node without a block. */
  readonly content?: JsonObject
  /** Blocks behind it, by name. */
  readonly more?: Readonly<Record<string, JsonObject>>
  /** Where the flow goes on, by the number of the output. */
  readonly flows: readonly string[]
  readonly values: NodeValues | undefined
  readonly isTrigger?: true
}

export interface NodeContext extends ValueContext {
  /** Nothing comes behind it. */
  readonly isEnd: boolean
  /** Finishes "<node> …". */
  readonly left: (line: string) => void
}

export function madeNode(node: WorkflowNode, context: NodeContext): MadeNode {
  const passed: MadeNode = { flows: [], values: context.incoming }
  if (node.isDisabled) {
    context.left('is left out: it is switched off')
    return passed
  }
  if (node.hasSecrets)
    context.left('has credentials, which are not taken over: make a connection or a secret')
  switch (node.type) {
    case 'webhook':
      return webhook(node, context)
    case 'scheduleTrigger':
      return schedule(node, context)
    case 'httpRequest':
      return httpRequest(node, context)
    case 'set':
      return setFields(node, context)
    case 'if':
      return branch(node, context)
    case 'respondToWebhook':
      return respond(node, context)
    case 'wait':
      return wait(node, context)
    case 'noOp':
    case 'stickyNote':
      return passed
    default:
      context.left(`(${node.type}) is left out: there is no block for it, and the flow continues behind it`)
      return passed
  }
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

function webhook({ block, parameters }: WorkflowNode, { left }: NodeContext): MadeNode {
  const method = textIn(parameters.httpMethod) || 'GET'
  if (!methods.has(method)) left(`takes ${method}, which no endpoint does: it takes POST here`)
  const way = methods.has(method) ? method.toLowerCase() : 'post'
  const segments = textIn(parameters.path)
    .split('/')
    .filter((one) => /^(?:[A-Za-z0-9._~-]+|:[A-Za-z]\w*)$/.test(one))
  const [root = block] = segments
  const path = [
    ...(reservedRoots.has(root) || /^(?:_|v\d+$)/.test(root) ? ['app'] : []),
    ...(segments.length > 0 ? segments : [block]),
  ].join('/')
  left(`is at /api/v1/${path} and asks for a signed-in user: give it the scope *public, and check who calls`)
  const replies = textIn(parameters.responseMode) || 'onReceived'
  const reply = `${block}_reply`
  const atOnce = {
    type: 'httpconnection_set_json',
    in: { flow: `@${block}.flow`, value: { message: 'Workflow was started' } },
  }
  if (replies === 'lastNode') left('replies what its last node gives: add a block that replies')
  return {
    content: { type: `on_startup_register_uri_${way}`, in: { uri: path }, scopes: ['*loggedin'] },
    ...(replies === 'onReceived' && { more: { [reply]: atOnce } }),
    flows: [replies === 'onReceived' ? `@${reply}.flow` : `@${block}.flow`],
    isTrigger: true,
    values: {
      whole: undefined,
      part: ([first, ...rest]) =>
        first === 'body'
          ? ['body', ...rest].join('.')
          : (first === 'query' || first === 'params') && rest.length > 0
            ? ['params', ...rest].join('.')
            : undefined,
    },
  }
}

function schedule({ block, parameters }: WorkflowNode, { left }: NodeContext): MadeNode {
  const rule = isJsonObject(parameters.rule) ? parameters.rule : {}
  const [interval = {}, ...others] = objectsIn(rule.interval)
  if (others.length > 0) left('has several times: the first is taken')
  const pins = timesOf(interval)
  if (!pins) left('has a time that is not known: it is each day at midnight here')
  return {
    content: {
      type: 'schedule_repeating_event',
      in: { ...(pins ?? { cron: '0 0 * * *' }), catch_up: 'none' },
    },
    flows: [`@${block}.flow`],
    isTrigger: true,
    values: {
      whole: undefined,
      part: ([first, ...rest]) =>
        first === 'timestamp' && rest.length === 0 ? `${block}.planned_at` : undefined,
    },
  }
}

function timesOf(interval: JsonObject): JsonObject | undefined {
  const { field = 'days', expression } = interval
  const every = (name: string) => Math.max(1, Math.trunc(numberIn(interval[name]) || 1))
  const [minute, hour] = [
    Math.trunc(numberIn(interval.triggerAtMinute)),
    Math.trunc(numberIn(interval.triggerAtHour)),
  ]
  switch (field) {
    case 'cronExpression':
      return typeof expression === 'string' && !expression.startsWith('=') ? { cron: expression } : undefined
    case 'seconds':
      return { every: `${every('secondsInterval')}s` }
    case 'minutes':
      return { every: `${every('minutesInterval')}m` }
    case 'hours':
      return every('hoursInterval') === 1
        ? { cron: `${minute} * * * *` }
        : { every: `${every('hoursInterval')}h` }
    case 'days':
      return every('daysInterval') === 1
        ? { cron: `${minute} ${hour} * * *` }
        : { every: `${every('daysInterval')}d` }
    case 'weeks': {
      const days = Array.isArray(interval.triggerAtDay)
        ? interval.triggerAtDay.map((day) => Math.trunc(numberIn(day)) % 7)
        : [0]
      return { cron: `${minute} ${hour} * * ${days.join(',')}` }
    }
    case 'months':
      return {
        cron: `${minute} ${hour} ${Math.max(1, Math.trunc(numberIn(interval.triggerAtDayOfMonth)))} * *`,
      }
    default:
      return undefined
  }
}

function httpRequest({ block, parameters }: WorkflowNode, context: NodeContext): MadeNode {
  const pin = pinIn(context)
  const method = textIn(parameters.method) || 'GET'
  const url = pin('url', parameters.url ?? '')
  const query =
    parameters.sendQuery === true ? namedValues('queryParameters', parameters, context) : undefined
  const headers =
    parameters.sendHeaders === true ? namedValues('headerParameters', parameters, context) : undefined
  const isJson = parameters.specifyBody === 'json'
  const body =
    parameters.sendBody === true
      ? isJson
        ? jsonBody(parameters.jsonBody ?? '', context)
        : namedValues('bodyParameters', parameters, context)
      : undefined
  return {
    content: {
      type: 'http_request',
      in: {
        url: url ?? '',
        method,
        ...(query && { query }),
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      },
    },
    flows: [`@${block}.flow`],
    values: valuesOf(`${block}.body`),
  }
}

/** A value of a pin; what cannot be said is listed. */
function pinIn(context: NodeContext): (name: string, value: JsonValue) => JsonValue | undefined {
  return (name, value) => {
    const pin = pinOf(value, context)
    if (pin === undefined)
      context.left(`has the expression ${JSON.stringify(value).slice(0, 80)} as ${name}, which is left empty`)
    return pin
  }
}

/** `{ parameters: [{ name, value }] }` as the expression of an object. */
function namedValues(name: string, parameters: JsonObject, context: NodeContext): string | undefined {
  const list = parameters[name]
  return objectExpression(objectsIn(isJsonObject(list) ? list.parameters : []), undefined, context)
}

function objectExpression(
  fields: readonly JsonObject[],
  base: string | undefined,
  context: NodeContext,
): string | undefined {
  const parts = base === undefined ? [] : [`...${base}`]
  for (const { name, value = null } of fields) {
    const expression = expressionOf(value, context)
    if (expression === undefined)
      context.left(
        `has the expression ${JSON.stringify(value).slice(0, 80)} as ${textIn(name)}, which is left out`,
      )
    else if (textIn(name) !== '') parts.push(`${JSON.stringify(textIn(name))}: ${expression}`)
  }
  return parts.length === 0 ? undefined : `={ ${parts.join(', ')} }`
}

/** JSON that has no expressions in it; an object, so that no text is taken for one. */
function jsonBody(value: JsonValue, context: NodeContext): JsonValue | undefined {
  if (typeof value === 'string' && !value.startsWith('='))
    try {
      const parsed: JsonValue = JSON.parse(value)
      if (typeof parsed === 'object' && parsed !== null) return parsed
    } catch {
      // Said below.
    }
  return pinIn(context)('body', value)
}

function setFields({ block, parameters }: WorkflowNode, context: NodeContext): MadeNode {
  const assignments = isJsonObject(parameters.assignments)
    ? objectsIn(parameters.assignments.assignments)
    : []
  const older = isJsonObject(parameters.values)
    ? Object.values(parameters.values).flatMap((list) => objectsIn(list))
    : []
  if (parameters.mode === 'raw') context.left('sets a whole object as JSON: its fields are left out')
  const keeps =
    parameters.includeOtherFields === true || (older.length > 0 && parameters.keepOnlySet !== true)
  const value = objectExpression(
    [...assignments, ...older],
    keeps ? context.incoming?.whole : undefined,
    context,
  )
  return {
    content: { type: 'set_value', in: { value: value ?? '={}' }, fields: { name: block } },
    flows: [`@${block}.flow`],
    values: valuesOf(`${block}.value`),
  }
}

function branch({ block, parameters }: WorkflowNode, context: NodeContext): MadeNode {
  const condition = conditionOf(parameters, context)
  if (condition === undefined) context.left('has a condition that cannot be said: it is false here')
  return {
    content: { type: 'branch', in: { condition: condition === undefined ? false : `=${condition}` } },
    flows: [`@${block}.true`, `@${block}.false`],
    values: context.incoming,
  }
}

function conditionOf(parameters: JsonObject, context: NodeContext): string | undefined {
  const conditions = isJsonObject(parameters.conditions) ? parameters.conditions : {}
  const present = objectsIn(conditions.conditions).map(
    ({ leftValue = null, rightValue = null, operator }) => ({
      left: leftValue,
      right: rightValue,
      operation: isJsonObject(operator) ? textIn(operator.operation) : '',
    }),
  )
  const older = ['string', 'number', 'boolean'].flatMap((type) =>
    objectsIn(conditions[type]).map(({ value1 = null, value2 = null, operation }) => ({
      left: value1,
      right: value2,
      operation: textIn(operation) || (type === 'number' ? 'smaller' : 'equal'),
    })),
  )
  const terms = [...present, ...older].map(({ left, right, operation }) => {
    const [a, b] = [expressionOf(left, context), expressionOf(right, context)]
    return a === undefined || b === undefined ? undefined : comparisonOf(operation, a, b)
  })
  if (terms.length === 0 || terms.includes(undefined)) return undefined
  const isAny = conditions.combinator === 'or' || parameters.combineOperation === 'any'
  return terms.map((term) => (terms.length > 1 ? `(${term})` : term)).join(isAny ? ' || ' : ' && ')
}

function respond({ block, parameters }: WorkflowNode, context: NodeContext): MadeNode {
  const options = isJsonObject(parameters.options) ? parameters.options : {}
  const code = numberIn(options.responseCode) || 200
  const whole = context.incoming?.whole
  const isGiven = ['json', 'text'].includes(textIn(parameters.respondWith))
  const value = isGiven
    ? jsonBody(parameters.responseBody ?? null, context)
    : whole === undefined
      ? undefined
      : `=${whole}`
  if (!isGiven && whole === undefined && parameters.respondWith !== 'noData')
    context.left('replies what cannot be said: its reply is empty')
  return {
    content: { type: 'httpconnection_set_json', in: { code, ...(value !== undefined && { value }) } },
    flows: [`@${block}.flow`],
    values: context.incoming,
  }
}

const units: Readonly<Record<string, string>> = { seconds: 's', minutes: 'm', hours: 'h', days: 'd' }

function wait({ block, parameters }: WorkflowNode, context: NodeContext): MadeNode {
  const unit = units[textIn(parameters.unit) || 'seconds']
  const amount = typeof parameters.amount === 'number' ? parameters.amount : undefined
  const isTime =
    (parameters.resume ?? 'timeInterval') === 'timeInterval' && unit !== undefined && amount !== undefined
  if (!isTime) context.left('waits for what cannot be said: it is a minute here')
  return {
    content: { type: 'wait', in: { for: isTime ? `${amount}${unit}` : '1m' } },
    flows: [`@${block}.flow`],
    values: context.incoming,
  }
}
