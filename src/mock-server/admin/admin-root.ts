/** Where the mock's own pages and API are, apart from everything the service has. */
export const ADMIN_ROOT = '/__fxrates';
