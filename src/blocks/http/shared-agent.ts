import type { Agent } from 'undici'
import { guardedAgent } from './guarded-agent.ts'

/**
 * One client for each list of allowed hosts, so that connections are used again. Idle ones close after four seconds and
 * keep no process alive; a client goes when its list does.
 */
const agents = new WeakMap<readonly string[], Promise<Agent>>()

/** Allowed hosts whose calls all go through this client. */
export function callingThrough(agent: Agent): () => readonly string[] {
  const every: readonly string[] = ['*']
  agents.set(every, Promise.resolve(agent))
  return () => every
}

export function sharedAgent(allowedHosts: readonly string[]): Promise<Agent> {
  const known = agents.get(allowedHosts)
  if (known) return known
  const agent = guardedAgent(allowedHosts)
  agents.set(allowedHosts, agent)
  return agent
}
