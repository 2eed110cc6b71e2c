import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The settings of the load balancer, as a file of deploy/ holds them. */
export function balancerSettings(file: 'compose.yaml' | 'compose-cores.yaml'): string {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', file), 'utf8')
  const [, block = ''] = /^ {2}balancer:\n(?: {4}#.*\n)* {4}content: \|\n((?: {6}.*\n)+)/m.exec(text) ?? []
  if (block === '') throw new Error(`deploy/${file} holds no settings of a load balancer.`)
  return block.replace(/^ {6}/gm, '')
}
