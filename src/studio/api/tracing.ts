import type { Tracing, TracingChange } from '../../shared/api/blueprints/runs.ts'
import { call } from './request.ts'

export function readTracing(blueprint: string, signal: AbortSignal): Promise<Tracing> {
  return call<Tracing>('GET', `/blueprints/${blueprint}/tracing`, { signal })
}

export function setTracing(blueprint: string, change: TracingChange): Promise<Tracing> {
  return call<Tracing>('PUT', `/blueprints/${blueprint}/tracing`, { body: change })
}
