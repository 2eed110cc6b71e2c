/** `required`: nothing else would do, as with EventSource of browsers. `possible`: the client takes JSON as well. */
export type EventWish = 'required' | 'possible' | 'none'

const EVENTS = 'text/event-stream'
/** No client names more of them. */
const MOST_TYPES = 50

/**
 * Whether a client asks for events by its header `accept`. A client that names JSON with no smaller weight wants JSON, and so
 * do those that take anything without naming `text/event-stream`.
 */
export function wantsEvents(accept: string | undefined): EventWish {
  const asked = accept?.toLowerCase()
  if (!asked?.includes(EVENTS)) return 'none'
  let events = 0
  let json = 0
  let others = 0
  for (const part of asked.split(',', MOST_TYPES)) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = weightOf(parameters)
    if (type === EVENTS) events = weight
    else if (type === 'application/json') json = weight
    else if (type === '*/*' || type === 'application/*') others = weight
  }
  if (events === 0 || json >= events) return 'none'
  return json > 0 || others > 0 ? 'possible' : 'required'
}

function weightOf(parameters: readonly string[]): number {
  const input = parameters.find((text) => text.startsWith('q='))
  const weight = input === undefined ? 1 : Number(input.slice(2))
  return weight >= 0 && weight <= 1 ? weight : 0
}

/** Whether a client takes events, by its header `accept`: those that say nothing take all. */
export function takesEvents(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  return accept
    .toLowerCase()
    .split(',', MOST_TYPES)
    .some((part) => {
      const [type = '', ...parameters] = part.split(';').map((text) => text.trim())
      return (type === EVENTS || type === 'text/*' || type === '*/*') && weightOf(parameters) > 0
    })
}
