import { openPermissions, type Permissions } from '../src/records/permissions/permissions.ts'

/** For tests: storages without rules. */
export const noPermissions: Permissions = openPermissions({
  rules: { storageRules: () => ({ rules: [], closed: false }), noPermissions: () => true },
  clock: Date.now,
  warn: () => undefined,
})
