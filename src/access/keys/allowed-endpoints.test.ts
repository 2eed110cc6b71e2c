import { expect, test } from 'vitest'
import { allowedEndpoints, endpointProblem } from './allowed-endpoints.ts'

test.each([
  [[], 'DELETE', '/api/v1/users/1', true],
  [['GET /api/v1/tasks'], 'GET', '/api/v1/tasks', true],
  [['GET /api/v1/tasks'], 'HEAD', '/api/v1/tasks?limit=1', true],
  [['GET /api/v1/tasks'], 'GET', '/api/v1/tasks/', true],
  [['GET /api/v1/tasks'], 'POST', '/api/v1/tasks', false],
  [['GET /api/v1/tasks'], 'GET', '/api/v1/tasks/1', false],
  [['GET /api/v1/tasks'], 'GET', '/api/v1/Tasks', false],
  [['/api/v1/tasks'], 'PATCH', '/api/v1/tasks', true],
  [['/api/v1/tasks/{guid}'], 'PUT', '/api/v1/tasks/7', true],
  [['/api/v1/tasks/{guid}'], 'PUT', '/api/v1/tasks', false],
  [['/api/v1/tasks/{guid}'], 'PUT', '/api/v1/tasks/7/notes', false],
  [['/api/v1/tasks/*'], 'GET', '/api/v1/tasks/7/notes', true],
  [['/api/v1/tasks/*'], 'GET', '/api/v1/tasks', false],
  [['/api/v1/tasks/*'], 'GET', '/api/v1/tasksforce/7', false],
  // A router would read another path out of these.
  [['/api/v1/tasks'], 'GET', '/api/v1/%74asks', false],
  [['/api/v1/{name}/list'], 'GET', '/api/v1/users#/list', false],
  [['/api/v1/tasks'], 'GET', '/api/v1/users?/api/v1/tasks', false],
  [['GET /api/v1/a', '/metrics'], 'GET', '/metrics', true],
])('%j: %s %s is %s', (entries, method, url, allowed) => {
  expect(allowedEndpoints(entries)(method, url)).toBe(allowed)
})

test.each([
  ['/api/v1/tasks', undefined],
  ['DELETE /api/v1/tasks/{guid}', undefined],
  ['/api/v1/tasks/*', undefined],
  ['tasks', 'must be a path'],
  ['get /api/v1/tasks', 'must be a path'],
  ['GET  /api/v1/tasks', 'must be a path'],
  ['/api/v1/tasks?limit=1', 'must be a path'],
  ['/api/*/tasks', 'only as its last segment'],
  ['/api/v1/task*', 'only as its last segment'],
  [`/${'a'.repeat(300)}`, 'longer than 300'],
])('%s: %s', (entry, problem) => {
  const said = endpointProblem(entry)
  if (problem === undefined) expect(said).toBeUndefined()
  else expect(said).toContain(problem)
})
