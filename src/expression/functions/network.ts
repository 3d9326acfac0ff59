import { parseImage } from '../image.ts';
import { defineFunctions } from './define.ts';
import { hostOfUrl, isInternalAddress, parseAddress } from './ip-address.ts';

export const networkFunctions = defineFunctions({
  image_normalize: {
    parameters: ['string'],
    returns: 'string',
    description: 'An image reference with registry and tag.',
    example: { expression: "image_normalize('nginx')", result: 'docker.io/nginx:latest' },
    call: (args) =>
      parseImage(args.text(0), args.environment.imageDefaults)?.reference ??
      args.fail(`bad image: ${args.text(0)}`),
  },
  is_external_url: {
    parameters: ['string'],
    returns: 'boolean',
    description: 'Whether the host of a URL has no private, loopback or link-local address.',
    example: { expression: "is_external_url('http://8.8.8.8')", result: true },
    volatile: true,
    call: (args) => {
      const host = hostOfUrl(args.text(0));
      const literal = parseAddress(host);
      if (literal !== undefined) return !isInternalAddress(literal);
      const addresses = host === '' ? undefined : args.environment.resolveHost?.(host);
      if (addresses === undefined) return args.fail(`lookup ${host}: no such host`);
      return !addresses.some((address) => {
        const parsed = parseAddress(address);
        return parsed === undefined || isInternalAddress(parsed);
      });
    },
  },
});
