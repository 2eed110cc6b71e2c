import { storageNameProblem } from '../storage/database.ts'
import { isOwnStorage } from '../storage/own-storages.ts'
import { PinError } from './block.ts'

/**
 * The storage that a blueprint may name. Names starting with `_` hold users, tokens and blueprints: no block reads or
 * writes them, however the name came to the pin. Throws PinError for `storage`.
 */
export function builderStorage(name: string, pin = 'storage'): string {
  const problem = storageNameProblem(name)
  if (problem) throw new PinError(pin, problem)
  if (isOwnStorage(name))
    throw new PinError(pin, 'starts with _, which is kept for the cluster’s own storages')
  return name
}
