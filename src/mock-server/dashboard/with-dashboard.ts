import type { ServiceHandler } from '../http/service-handler.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { createDashboard } from './dashboard.ts';

/** The emulated service together with its dashboard, under one address. */
export function withDashboard(service: ServiceHandler, context: ServiceContext): ServiceHandler {
  const dashboard = createDashboard(context);
  return (request) => {
    const response = dashboard(request);
    return response === undefined ? service(request) : { response, entry: undefined };
  };
}
