/** Names of the tools of `/mcp` that every cluster has: no function or endpoint is offered under one of them. */
export const ownTools: ReadonlySet<string> = new Set([
  ...['search', 'read', 'edit', 'check', 'test', 'try', 'explain', 'documents', 'plan', 'deploy', 'discard'],
])
